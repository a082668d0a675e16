// Each thread prints lines of different lengths, each in one of many ways, with nothing between the threads. No text
// lies on the heap, which threads would have to ask for.
#include <omp.h>

#include <cstdio>
#include <cstring>
#include <iostream>
int main() {
#pragma omp parallel
  {
    const int thread = omp_get_thread_num();
    char text[100], line[200], lines[20000];
    for (int i = 0; i < 3000; ++i) {
      memset(text, 'a' + thread, sizeof text);
      text[i % 97] = '\0';
      sprintf(line, "%d %d %s %d", thread, i, text, thread);
      switch (i % 6) {
        case 0: printf("%s\n", line); break;
        case 1:
          for (const char* sign = line; *sign != '\0'; ++sign) putchar(*sign);
          putchar('\n');
          break;
        case 2: puts(line); break;
        case 3: std::cout << thread << ' ' << i << ' ' << text << ' ' << thread << '\n'; break;
        case 4:
          lines[0] = '\0';
          for (char* end = lines; end < lines + 100 * (strlen(line) + 1); end += strlen(end))
            sprintf(end, "%s\n", line);
          fwrite(lines, 1, strlen(lines), stdout);
          break;
        default:
          fprintf(stdout, "%d %d", thread, i);
          putc_unlocked(' ', stdout);
          fputs(text, stdout);
          fputc(' ', stdout);
          fprintf(stdout, "%d\n", thread);
      }
    }
  }
}
