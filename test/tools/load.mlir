// RUN: uop-opt --load %S/../../examples/my_rules.py %s -p uop-simplify | filecheck %s
// RUN: uop-opt --load=%S/../../examples/my_rules.py %s --pass-pipeline 'builtin.module(uop-simplify,mine-to-uop)' | filecheck %s --check-prefix=PASS
// RUN: uop-opt --load %S/../../examples/my_rules.py --list-passes | filecheck %s --check-prefix=LIST
// RUN: not uop-opt %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not uop-opt --load %S/nowhere.py %s 2>&1 | filecheck %s --check-prefix=NOWHERE
// RUN: not uop-opt --load %S/inputs/plugin_syntax.txt %s 2>&1 | filecheck %s --check-prefix=SYNTAX
// RUN: not uop-opt --load %S/inputs/plugin_raises.py %s 2>&1 | filecheck %s --check-prefix=RAISES
// RUN: not uop-opt --load %S/inputs/plugin_bad_rule.py %s 2>&1 | filecheck %s --check-prefix=RULE
// RUN: not uop-opt --load %S/inputs/plugin_taken.py %s 2>&1 | filecheck %s --check-prefix=TAKEN
// RUN: not uop-opt --load %S/inputs/plugin_empty.py %s 2>&1 | filecheck %s --check-prefix=EMPTY

// The rules of examples/my_rules.py: max(n, −n) is abs, a negative double is the double of the negative.
// CHECK:      func.func @f
// CHECK-NEXT:   %[[A:.*]] = uop.abs %n : i32
// CHECK-NEXT:   %[[N:.*]] = uop.neg %n : i32
// CHECK-NEXT:   %[[D:.*]] = mine.double %[[N]] : i32
// CHECK-NEXT:   func.return %[[A]], %[[D]] : i32, i32
// PASS:         %[[N:.*]] = uop.neg %n : i32
// PASS-NEXT:    uop.add %[[N]], %[[N]] : i32
// LIST:      mine-to-uop {{ *}}Apply 1 rules, the first of which is mine.double[n] >> add[n, n] for signed n
// UNKNOWN:   load.mlir:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}}mine.double
// NOWHERE:   nowhere.py: error: cannot be read: No such file or directory
// SYNTAX:    plugin_syntax.txt:1:9: error: '[' was never closed
// SYNTAX-NEXT: RULES = [
// RAISES:    plugin_raises.py:4: error: cannot be loaded: KeyError: 'missing'
// RULE:      plugin_bad_rule.py: error: has a rule that makes no sense: {{.*}}plugin_bad_rule.py:8: the term binds no y: neg[x] >> add[x, y]
// TAKEN:     plugin_taken.py: error: there is a pass 'cse' already: give it another name
// EMPTY:     plugin_empty.py: error: defines neither RULES nor DIALECTS nor PASSES
func.func @f(%n: i32) -> (i32, i32) {
  %0 = uop.neg %n : i32
  %1 = uop.max %0, %n : i32
  %2 = "mine.double"(%n) : (i32) -> i32
  %3 = uop.neg %2 : i32
  func.return %1, %3 : i32, i32
}
