/* Memory that functions of the C library allocate inside of themselves for the program is the program's: any thread may
   make it, all others read it, and any frees it. */
#define _GNU_SOURCE
#include <argz.h>
#include <dirent.h>
#include <envz.h>
#include <execinfo.h>
#include <glob.h>
#include <netdb.h>
#include <obstack.h>
#include <omp.h>
#include <regex.h>
#include <search.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

#include "expect.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free
enum { most_threads = 256, keys = 300 };

static int key[keys];
static void* tree;
static int nodes;
static jmp_buf back;

static int by_value(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}
static int jumps(const void* a, const void* b) {
  longjmp(back, a != b);
}
static void count(const void* node, VISIT visit, int depth) {
  (void)node, (void)depth;
  if (visit == postorder || visit == leaf) ++nodes;
}
static void keep(void* node) {
  (void)node;
}

/* What one thread makes, another reads. */
typedef struct {
  wchar_t* wide;
  char *word, *read, *wide_word, *folder, *current, *path, *fields;
  size_t field_bytes;
  struct obstack stack;
  char *grown, *printed;
  glob_t found;
  wordexp_t words;
  struct dirent** entries;
  int entry_count;
  char** frames;
  struct addrinfo* address;
  struct hsearch_data table;
  regex_t pattern;
} Objects;
static Objects of[most_threads];

static void make(Objects* own, int number) {
  wchar_t text[40];
  char line[40];
  swprintf(text, 40, L"wide %d", number);
  own->wide = wcsdup(text);
  snprintf(line, 40, "word%d rest", number);
  EXPECT(sscanf(line, "%ms", &own->word) == 1);
  EXPECT(swscanf(text, L"%ms", &own->wide_word) == 1);
  FILE* file = tmpfile();
  fputs(line, file);
  rewind(file);
  EXPECT(fscanf(file, "%m[a-z]", &own->read) == 1);
  fclose(file);
  own->folder = getcwd(NULL, 0);
  own->current = get_current_dir_name();
  own->path = canonicalize_file_name("/etc/..");
  EXPECT(argz_create_sep("a:b", ':', &own->fields, &own->field_bytes) == 0);
  EXPECT(envz_add(&own->fields, &own->field_bytes, "name", "value") == 0);
  obstack_init(&own->stack);
  own->grown = obstack_copy0(&own->stack, line, strlen(line));
  obstack_printf(&own->stack, "%9000d", number);
  obstack_1grow(&own->stack, 0);
  own->printed = obstack_finish(&own->stack);
  EXPECT(glob("/etc/pass*d", 0, NULL, &own->found) == 0);
  EXPECT(glob("/et*", GLOB_APPEND, NULL, &own->found) == 0);
  own->words.we_offs = 2;
  EXPECT(wordexp("one $((1 + 1))", &own->words, WRDE_DOOFFS) == 0);
  EXPECT(wordexp("three", &own->words, WRDE_DOOFFS | WRDE_APPEND) == 0);
  own->entry_count = scandir("/", &own->entries, NULL, alphasort);
  void* calls[4];
  own->frames = backtrace_symbols(calls, backtrace(calls, 1));
  EXPECT(getaddrinfo("127.0.0.1", "80", NULL, &own->address) == 0);
  EXPECT(hcreate_r(20, &own->table) != 0);
  ENTRY* at;
  EXPECT(hsearch_r((ENTRY){own->word, own}, ENTER, &at, &own->table) != 0);
  EXPECT(regcomp(&own->pattern, "^w(or|a)d[0-9]+ r.*(t)$", REG_EXTENDED) == 0);
}

static int is_right(Objects* other, int number) {
  wchar_t text[40];
  char line[40];
  swprintf(text, 40, L"wide %d", number);
  snprintf(line, 40, "word%d rest", number);
  const size_t word_bytes = strcspn(line, " ");
  ENTRY* at = NULL;
  regmatch_t match[3];
  return wcscmp(other->wide, text) == 0 && strlen(other->word) == word_bytes &&
         strncmp(other->word, line, word_bytes) == 0 && strcmp(other->wide_word, "wide") == 0 &&
         strcmp(other->read, "word") == 0 && other->folder[0] == '/' && other->current[0] == '/' &&
         strcmp(other->path, "/") == 0 && argz_count(other->fields, other->field_bytes) == 3 &&
         strcmp(envz_get(other->fields, other->field_bytes, "name"), "value") == 0 && strcmp(other->grown, line) == 0 &&
         strlen(other->printed) == 9000 && atoi(other->printed) == number && other->found.gl_pathc == 2 &&
         strcmp(other->found.gl_pathv[0], "/etc/passwd") == 0 && strcmp(other->found.gl_pathv[1], "/etc") == 0 &&
         other->found.gl_pathv[2] == NULL && other->words.we_wordc == 3 && other->words.we_wordv[0] == NULL &&
         strcmp(other->words.we_wordv[3], "2") == 0 && strcmp(other->words.we_wordv[4], "three") == 0 &&
         other->entry_count > 2 && strcmp(other->entries[0]->d_name, ".") == 0 && strlen(other->frames[0]) > 3 &&
         other->address->ai_family == AF_INET && other->address->ai_addr->sa_family == AF_INET &&
         hsearch_r((ENTRY){other->word, NULL}, FIND, &at, &other->table) != 0 && at->data == other &&
         regexec(&other->pattern, line, 3, match, 0) == 0 && match[2].rm_so == (int)strlen(line) - 1 &&
         regexec(&other->pattern, "other", 0, NULL, 0) == REG_NOMATCH;
}

static void give_back(Objects* other) {
  free(other->wide);
  free(other->word);
  free(other->read);
  free(other->wide_word);
  free(other->folder);
  free(other->current);
  free(other->path);
  free(other->fields);
  obstack_free(&other->stack, NULL);
  globfree(&other->found);
  wordfree(&other->words);
  for (int i = 0; i < other->entry_count; ++i) free(other->entries[i]);
  free(other->entries);
  free(other->frames);
  freeaddrinfo(other->address);
  hdestroy_r(&other->table);
  regfree(&other->pattern);
}

/* One pattern for all, first matched in the region: the library's lock and states are in the pattern. */
static void match_together(void) {
  regex_t pattern;
  EXPECT(regcomp(&pattern, "^[a-m][0-9]+x$", REG_EXTENDED) == 0);
  struct re_pattern_buffer buffer = {0};
  re_set_syntax(RE_SYNTAX_POSIX_EXTENDED);
  EXPECT(re_compile_pattern("h[a-f]l+o", 9, &buffer) == NULL);
  int wrong = 0;
#pragma omp parallel for reduction(+ : wrong) schedule(static, 1)
  for (int i = 0; i < 200; ++i) {
    char text[16];
    snprintf(text, sizeof text, "%c%d%s", 'a' + i * 7 % 26, i, i % 2 ? "x" : "yz");
    wrong += regexec(&pattern, text, 0, NULL, 0) != (text[0] <= 'm' && i % 2 ? 0 : REG_NOMATCH);
    wrong += re_match(&buffer, "hello", 5, 0, NULL) != 5;
  }
  EXPECT(wrong == 0);
  regfree(&pattern);
  regfree(&buffer);
}

static void grow_one_tree(void) {
#pragma omp parallel for
  for (int i = 0; i < keys; ++i) {
    key[i] = i * 7 % keys;
#pragma omp critical
    tsearch(&key[i], &tree, by_value);
  }
  twalk(tree, count);
  EXPECT(nodes == keys);
  int found = 0;
#pragma omp parallel for reduction(+ : found)
  for (int i = 0; i < keys; ++i) {
    int** node = tfind(&i, &tree, by_value);
    found += node != NULL && **node == i;
  }
  EXPECT(found == keys);
  if (setjmp(back) == 0) tsearch(&key[0], &tree, jumps);
  /* The jump left tsearch: what the library allocates for itself is its own again. */
  FILE* file = fopen("/etc/passwd", "r");
  EXPECT(file != NULL && getc(file) != EOF);
  fclose(file);
  tdestroy(tree, keep);
}

int main(void) {
  int right = 0;
#pragma omp parallel reduction(+ : right)
  {
    const int number = omp_get_thread_num(), threads = omp_get_num_threads();
    make(&of[number], number);
#pragma omp barrier
    const int other = (number + 1) % threads;
    right = is_right(&of[other], other);
#pragma omp barrier
    give_back(&of[(number + 2) % threads]);
  }
  EXPECT(right == omp_get_max_threads());
  match_together();
  grow_one_tree();
  return expect_status();
}
