/* What tools for text do: records are written to a file and read again by all threads, each its own part by its own
   stream; words are counted in a table with a lock for each bucket; records are sorted by qsort callbacks and merged by
   nested sections; a parser leaves bad lines by longjmp; strings are cut, joined, compared and formatted in shared
   pages; results lie in arrays of variable length on the stack and in threadprivate tables. */
#define _GNU_SOURCE
#include <ctype.h>
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { buckets = 61, longest = 96 };

typedef struct {
  int number, level;
  long duration;
  char name[24];
  char* text;
} record;

typedef struct word {
  struct word* next;
  int count;
  char letters[]; /* allocated with it */
} word;

typedef struct {
  omp_lock_t lock;
  word* first;
} bucket;

static const char* const levels[] = {"debug", "info", "warning", "error"};
static const char* const verbs[] = {"opens", "reads", "closes", "waits for", "writes"};
static const char* const things[] = {"a file", "the printer", "its neighbour", "a message", "nothing at all"};

static int count, wrong;
static record* records;
static bucket table[buckets];
static struct {
  jmp_buf on_error;
  int lines, errors;
  char scratch[longest];
} own;
#pragma omp threadprivate(own)

static void expect(int holds, const char* what) {
  if (holds) return;
  ++wrong;
  printf("WRONG: %s\n", what);
}

static char* format(const char* pattern, ...) {
  va_list arguments;
  va_start(arguments, pattern);
  char line[longest];
  vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return strdup(line);
}

static long duration_of(int number) {
  return (number * 7919L) % 1009;
}
static int is_damaged(int number) {
  return number % 37 == 5;
}

static void write_file(const char* name) {
  char** lines = calloc((size_t)count, sizeof *lines);
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < count; ++i)
    lines[i] = is_damaged(i) ? format("#%d ?? %s", i, things[i % 5])
                             : format("#%d %s %ld process-%d %s %s", i, levels[i % 4], duration_of(i), i % 11,
                                      verbs[i % 5], things[i / 5 % 5]);
  FILE* file = fopen(name, "w");
  if (file == NULL) exit(3);
  for (int i = 0; i < count; ++i) {
    fprintf(file, "%s\n", lines[i]);
    free(lines[i]);
  }
  fclose(file);
  free(lines);
}

/* Leaves by longjmp where a line has not what it should. */
static void parse(const char* line, record* result) {
  int end = 0;
  char level[longest];
  if (sscanf(line, "#%d %s %ld %23s %n", &result->number, level, &result->duration, result->name, &end) != 4)
    longjmp(own.on_error, 1);
  result->level = -1;
  for (int k = 0; k < 4; ++k)
    if (strcmp(level, levels[k]) == 0) result->level = k;
  if (result->level < 0) longjmp(own.on_error, 2);
  result->text = strdup(line + end);
}

static void take_line(char* line) {
  line[strcspn(line, "\n")] = 0;
  if (setjmp(own.on_error) != 0) {
    ++own.errors;
    return;
  }
  record parsed;
  memset(&parsed, 0, sizeof parsed);
  parse(line, &parsed);
  records[parsed.number] = parsed;
  ++own.lines;
}

/* A line belongs to the thread in whose part it begins. */
static void read_file(const char* name) {
  int lines = 0, errors = 0;
#pragma omp parallel reduction(+ : lines, errors)
  {
    FILE* file = fopen(name, "r");
    if (file == NULL) exit(3);
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    const int me = omp_get_thread_num(), members = omp_get_num_threads();
    const long begin = size * me / members, end = size * (me + 1) / members;
    own.lines = own.errors = 0;
    fseek(file, begin > 0 ? begin - 1 : 0, SEEK_SET);
    if (begin > 0)
      for (int c = getc(file); c != '\n' && c != EOF; c = getc(file)) {
      }
    while (ftell(file) < end && fgets(own.scratch, longest, file) != NULL) take_line(own.scratch);
    fclose(file);
    lines += own.lines;
    errors += own.errors;
  }
  int damaged = 0, bad = 0;
  for (int i = 0; i < count; ++i) {
    damaged += is_damaged(i);
    const record* r = &records[i];
    char text[longest];
    snprintf(text, sizeof text, "%s %s", verbs[i % 5], things[i / 5 % 5]);
    if (is_damaged(i))
      bad += r->text != NULL;
    else
      bad += r->text == NULL || strcmp(r->text, text) != 0 || r->duration != duration_of(i) || r->level != i % 4;
  }
  expect(lines == count - damaged && errors == damaged, "lines of a file");
  expect(bad == 0, "records");
}

static void count_word(const char* letters, size_t length) {
  unsigned hash = 5381;
  for (size_t i = 0; i < length; ++i) hash = hash * 33 + (unsigned char)letters[i];
  bucket* home = &table[hash % buckets];
  omp_set_lock(&home->lock);
  word* here = home->first;
  while (here != NULL && (strncmp(here->letters, letters, length) != 0 || here->letters[length] != 0))
    here = here->next;
  if (here == NULL) {
    here = malloc(sizeof *here + length + 1);
    *here = (word){home->first, 0};
    memcpy(here->letters, letters, length);
    here->letters[length] = 0;
    home->first = here;
  }
  ++here->count;
  omp_unset_lock(&home->lock);
}

static int count_of(const char* letters) {
  for (int b = 0; b < buckets; ++b)
    for (const word* here = table[b].first; here != NULL; here = here->next)
      if (strcmp(here->letters, letters) == 0) return here->count;
  return 0;
}

static void count_words(void) {
  for (int b = 0; b < buckets; ++b) omp_init_lock(&table[b].lock);
#pragma omp parallel for schedule(guided, 4)
  for (int i = 0; i < count; ++i) {
    if (records[i].text == NULL) continue;
    char copy[longest];
    stpcpy(stpcpy(copy, records[i].text), " ");
    char* rest = NULL;
    for (char* part = strtok_r(copy, " ", &rest); part != NULL; part = strtok_r(NULL, " ", &rest)) {
      for (char* c = part; *c != 0; ++c) *c = (char)toupper((unsigned char)*c);
      count_word(part, strlen(part));
    }
  }
  int reads = 0, printers = 0;
  for (int i = 0; i < count; ++i) {
    if (is_damaged(i)) continue;
    reads += i % 5 == 1;
    printers += i / 5 % 5 == 1;
  }
  expect(count_of("READS") == reads && count_of("PRINTER") == printers, "words");
  expect(count_of("read") == 0, "a word that is not there");
  for (int b = 0; b < buckets; ++b) {
    for (word *here = table[b].first, *next = NULL; here != NULL; here = next) {
      next = here->next;
      free(here);
    }
    omp_destroy_lock(&table[b].lock);
  }
}

static int by_duration(const void* a, const void* b) {
  const record *x = *(record*const*)a, *y = *(record*const*)b;
  if (x->duration != y->duration) return x->duration < y->duration ? -1 : 1;
  return x->number - y->number;
}

/* Halves by nested sections, down to what qsort does; then merged. */
static void sort(record** items, int n, record** room) {
  if (n <= 40) {
    qsort(items, (size_t)n, sizeof *items, by_duration);
    return;
  }
  const int half = n / 2;
#pragma omp parallel sections
  {
#pragma omp section
    sort(items, half, room);
#pragma omp section
    sort(items + half, n - half, room + half);
  }
  for (int i = 0, j = half, k = 0; k < n; ++k)
    room[k] = j >= n || (i < half && by_duration(&items[i], &items[j]) < 0) ? items[i++] : items[j++];
  memcpy(items, room, (size_t)n * sizeof *items);
}

static void sort_records(void) {
  record** order = malloc((size_t)count * sizeof *order);
  record* room[count];
  int n = 0, bad = 0;
  for (int i = 0; i < count; ++i)
    if (records[i].text != NULL) order[n++] = &records[i];
  sort(order, n, room);
#pragma omp parallel for reduction(+ : bad)
  for (int i = 1; i < n; ++i) bad += by_duration(&order[i - 1], &order[i]) >= 0;
  record wanted = {.number = 2, .duration = duration_of(2)};
  record* key = &wanted;
  record** found = bsearch(&key, order, (size_t)n, sizeof *order, by_duration);
  expect(bad == 0, "order of records");
  expect(found != NULL && *found == &records[2], "a record that is searched for");
  free(order);
}

/* Sums of each level and process, in an array of variable length on the stack; the lines of a report in order. */
static void report(int processes) {
  long sums[4][processes];
  char* lines[processes];
  memset(sums, 0, sizeof sums);
  size_t length = 0;
  char* page = calloc((size_t)processes, longest);
#pragma omp parallel
  {
#pragma omp for reduction(+ : sums)
    for (int i = 0; i < count; ++i)
      if (records[i].text != NULL) sums[records[i].level][atoi(records[i].name + 8)] += records[i].duration;
#pragma omp for ordered schedule(static, 1)
    for (int p = 0; p < processes; ++p) {
      lines[p] = format("process-%d:%6ld%6ld%6ld%6ld\n", p, sums[0][p], sums[1][p], sums[2][p], sums[3][p]);
#pragma omp ordered
      {
        strcat(page + length, lines[p]);
        length += strlen(lines[p]);
      }
    }
  }
  long total = 0, all = 0;
  const char* at = page;
  for (int p = 0; p < processes; ++p) {
    int number = -1;
    long row[4];
    sscanf(at, "process-%d:%ld%ld%ld%ld", &number, &row[0], &row[1], &row[2], &row[3]);
    expect(number == p, "a line of the report");
    for (int k = 0; k < 4; ++k) total += row[k];
    at = strchr(at, '\n') + 1;
    free(lines[p]);
  }
  for (int i = 0; i < count; ++i) all += is_damaged(i) ? 0 : duration_of(i);
  expect(*at == 0 && strlen(page) == length, "the report's end");
  expect(total == all, "sums of the report");
  free(page);
}

int main(int argc, char** argv) {
  count = argc > 1 ? atoi(argv[1]) : 240;
  omp_set_dynamic(1); /* a run of one thread has smaller teams */
  records = calloc((size_t)count, sizeof *records);
  char name[] = "logs-XXXXXX";
  const int file = mkstemp(name);
  if (file < 0) return 3;
  close(file);
  write_file(name);
  read_file(name);
  unlink(name);
  count_words();
  sort_records();
  report(11);
  for (int i = 0; i < count; ++i) free(records[i].text);
  free(records);
  if (wrong == 0) printf("%d records: verified\n", count);
  return wrong != 0;
}
