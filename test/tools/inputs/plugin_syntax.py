RULES = [
