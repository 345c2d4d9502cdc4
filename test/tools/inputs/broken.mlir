// An error on the second line.
builtin.modul {}
