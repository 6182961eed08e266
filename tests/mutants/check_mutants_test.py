"""What scripts/check-mutants changes and draws, and how it tries, resumes and reports, on a project of a few lines."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('check_mutants', str(ROOT / 'scripts' / 'check-mutants'))
check_mutants = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_mutants', loader))
sys.modules['check_mutants'] = check_mutants
loader.exec_module(check_mutants)


def changed(line, operator, before='{'):
    """What the operator makes of a line that comes after another."""
    found = check_mutants.changes(f'{before}\n  {line}\n')
    return [after.strip() for number, kind, _, after in found if number == 2 and kind == operator]


class OperatorsTest(unittest.TestCase):
    def test_comparisons_take_or_leave_the_border(self):
        self.assertEqual(changed('return a < b;', 'comparison'), ['return a <= b;'])
        self.assertEqual(changed('if (a >= b || c == d) {', 'comparison'), ['if (a > b || c == d) {', 'if (a >= b || c != d) {'])
        self.assertEqual(changed('std::vector<int> a(b << 2);', 'comparison'), [])

    def test_numbers_are_off_by_one(self):
        self.assertEqual(changed('at(i + 1, 7u);', 'off by one'), ['at(i + 0, 7u);', 'at(i + 1, 8u);'])
        self.assertEqual(changed("x1 = 0.5 * 1e-3 + 0x10 + 1'000;", 'off by one'), [])

    def test_conditions_are_negated(self):
        self.assertEqual(changed('if (a(b) && c) {', 'negation'), ['if (!(a(b) && c)) {'])
        self.assertEqual(changed('if (!a) return;', 'negation'), ['if (a) return;'])
        self.assertEqual(changed('} else if constexpr (kA > 0) {', 'negation'), ['} else if constexpr (!(kA > 0)) {'])
        self.assertEqual(changed('if (const int a = b(); a) {', 'negation'), [])

    def test_whole_statements_are_dropped(self):
        for statement in ['barrier();', 'a.b<int>(c)->d(e);', 'a[i - 1] += f(b);', '++count_;', 'i++;', 'out << a << b;',
                          'if (a) return b;', '*to = from;']:
            self.assertEqual(changed(statement, 'dropped statement'), [f'if (false) {statement}'])
        for other in ['int a = b;', 'const Cell c(d);', 'return f(a);', 'if (a) {', 'static_assert(f(a));', 'names.reserve(9);']:
            self.assertEqual(changed(other, 'dropped statement'), [])
        self.assertEqual(changed('b(c);', 'dropped statement', before='  const int a ='), [], 'the end of a longer one')

    def test_operands_and_arguments_are_swapped(self):
        self.assertEqual(changed('return a.x - b[1] / c->d;', 'swapped operands'), ['return b[1] - a.x / c->d;'])
        self.assertEqual(changed('y = a / 2;', 'swapped operands'), ['y = 2 / a;'])
        self.assertEqual(changed('f(a, b.c);', 'swapped operands'), ['f(b.c, a);'])
        for alike in ['a - a', 'f(a) - b', 'f(a, b, c)', 'min(a, b)', 'a - b(c)']:
            self.assertEqual(changed(f'x = {alike};', 'swapped operands'), [])

    def test_words_change_places(self):
        self.assertEqual(changed('return a && b;', 'and, or'), ['return a || b;'])
        self.assertEqual(changed('f(true, x_true);', 'true, false'), ['f(false, x_true);'])
        self.assertEqual(changed('a = std::min(b, fmax(c, limits::max()));', 'min, max'),
                         ['a = std::max(b, fmax(c, limits::max()));', 'a = std::min(b, fmin(c, limits::max()));'])

    def test_comments_strings_characters_and_the_preprocessor_stay(self):
        text = '''#include <a> // 1 < 2
#define A(b) \\
  f(1 < 2)
// a < b
/* a < b
   && c */ /// true
const char* a = "b < 1 \\" && c";  // 1 - x
const char* d = R"x(a < b
  && 1)x";
const char e = '1', f = '\\'';
static_assert(a < 1);
template <int a = 1>
'''
        self.assertEqual(list(check_mutants.changes(text)), [])

    def test_the_rest_of_the_line_stays(self):
        [found] = check_mutants.changes("a = b == ' ' ?  // if (c)\n")
        self.assertEqual(found, (1, 'comparison', "a = b == ' ' ?  // if (c)", "a = b != ' ' ?  // if (c)"))


class DrawTest(unittest.TestCase):
    ranges = check_mutants.read_ranges(ROOT)
    files = check_mutants.source_files(ROOT)

    def all(self):
        return list(check_mutants.all_mutants(ROOT, self.files, self.ranges))

    def test_a_seed_draws_the_same_ones_and_more_of_them_on_request(self):
        drawn = check_mutants.draw(self.all(), 60, 7)
        self.assertEqual(drawn, check_mutants.draw(self.all(), 90, 7)[:60])
        self.assertNotEqual(drawn, check_mutants.draw(self.all(), 60, 8))
        self.assertEqual(len({mutant.key() for mutant in drawn}), 60)

    def test_small_ranges_and_rare_operators_have_their_share(self):
        drawn = check_mutants.draw(self.all(), 300, 7)
        self.assertEqual({mutant.operator for mutant in drawn}, set(check_mutants.OPERATORS))
        drawn_from = {check_mutants.range_of(mutant.file, self.ranges) for mutant in drawn}
        self.assertEqual(drawn_from, {path for path, tests in self.ranges.items() if tests})

    def test_ranges_name_what_there_is(self):
        targets = {name for cmake in (ROOT / 'tests').rglob('*') if cmake.name == 'CMakeLists.txt' or cmake.suffix == '.cmake'
                   for name in re.findall(r'stencil_tune_add_test\((\w+)', cmake.read_text())}
        for path, tests in self.ranges.items():
            self.assertTrue((ROOT / path).exists(), path)
            self.assertLessEqual({program for program, _ in tests}, targets, path)

    def test_nothing_is_drawn_from_what_ends_processes_or_removes_folders(self):
        for name in {mutant.file for _, mutant in self.all()}:
            self.assertIsNone(re.search(r'\b(kill|killpg|remove_all|rmdir)\s*\(', (ROOT / name).read_text()), name)


def mutants(test, count, suffix='.cpp'):
    return [check_mutants.Mutant(f'{number}{suffix}', 1, test, 'a', 'b', ((test, '*'),)) for number in range(count)]


class QueueTest(unittest.TestCase):
    def test_each_mutant_is_taken_once(self):
        waiting = mutants('large_test', 5) + mutants('small_test', 2)
        queue = check_mutants.Queue(waiting)
        taken, last = [], [None, None, None]
        for turn in range(10):
            mutant = queue.take(last[turn % 3])
            if mutant:
                taken.append(str(mutant))
                last[turn % 3] = mutant.tests
        self.assertEqual(sorted(taken), sorted(map(str, waiting)))

    def test_a_copy_stays_with_the_program_that_it_has_built(self):
        queue = check_mutants.Queue(mutants('large_test', 9) + mutants('small_test', 3))
        tests = [(('small_test', '*'),)]
        while mutant := queue.take(tests[-1]):
            tests.append(mutant.tests)
        self.assertEqual([group[0][0] for group in tests[1:]], ['small_test'] * 3 + ['large_test'] * 9)

    def test_copies_go_where_most_is_left_for_each(self):
        queue = check_mutants.Queue(mutants('large_test', 9) + mutants('small_test', 5))
        self.assertEqual([queue.take(None).operator for _ in range(3)], ['large_test', 'small_test', 'large_test'])

    def test_headers_which_take_longest_to_build_come_first(self):
        queue = check_mutants.Queue(mutants('some_test', 2) + mutants('some_test', 1, '.h'))
        self.assertEqual(queue.take(None).file, '0.h')


PROJECT = {
    'CMakePresets.json': '{"version": 3, "configurePresets": [{"name": "ci", "generator": "Ninja", "binaryDir": '
                         '"${sourceDir}/build/ci"}]}',
    'CMakeLists.txt': 'cmake_minimum_required(VERSION 3.20)\nproject(small CXX)\n'
                      'set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)\n'
                      'add_executable(small_test code.cpp weak.cpp small_test.cpp)\n',
    'code.cpp': 'bool below(int a, int b) { return a < b; }\n',
    'weak.cpp': 'bool above(int a, int b) { return a > b; }\n',
    'small_test.cpp': '''#include <cstdio>
bool below(int, int);
bool above(int, int);
int main() {
  const bool passes = below(1, 2) && !below(2, 2) && above(2, 1);  // and never above(2, 2)
  std::puts(passes ? "[  PASSED  ] 1 test." : "[  FAILED  ] Small.IsRight (0 ms)");
  return passes ? 0 : 1;
}
''',
    'tests/mutants/ranges.txt': 'code.cpp small_test\nweak.cpp small_test:Small.*\n',
}


class SmallProjectTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name, text in PROJECT.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.addCleanup(setattr, check_mutants, 'ROOT', ROOT)
        check_mutants.ROOT = self.root

    def check(self, *options):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            status = check_mutants.main(['--jobs', '1', '--seed', '1', '--tree', str(self.root / 'build' / 'copy'), *options])
        return status, said.getvalue()

    def test_what_no_test_notices_is_listed(self):
        status, said = self.check()
        self.assertRegex(said, r'code.cpp:1 comparison: Small.IsRight fails \(')
        self.assertRegex(said, r'survived: weak.cpp:1 comparison\n  - .* return a > b; }\n  \+ .* return a >= b; }\n')
        self.assertIn('seed 1: 2 drawn, 0 do not build, 1 noticed, 1 survived (50 %', said)
        self.assertEqual(status, 1)
        status, said = self.check('--resume', '--survivors-allowed', '50')
        self.assertNotIn('code.cpp', said)
        self.assertIn('seed 1: 2 drawn, 0 do not build, 1 noticed, 1 survived (50 %', said)
        self.assertEqual(status, 0)

    def test_what_does_not_build_counts_as_neither(self):
        (self.root / 'code.cpp').write_text('bool below(int a, int b) { return a < b; }\nstruct One { int one : true; };\n')
        _, said = self.check('--only', 'code')
        self.assertIn('seed 1: 2 drawn, 1 do not build, 1 noticed, 0 survived (0 %', said)

    def test_a_test_that_fails_on_unchanged_code_notices_nothing(self):
        (self.root / 'code.cpp').write_text('bool below(int a, int b) { return a > b; }\n')
        status, said = self.check('--survivors-allowed', '100')
        self.assertIn('small_test --gtest_filter=* on unchanged code: Small.IsRight fails', said)
        self.assertIn('2 without a test that passes on unchanged code', said)
        self.assertEqual(status, 1)


unittest.main()
