// Planted: four threads' lists whose nodes were allocated in turn, so that each page has nodes of all.
#include <omp.h>

#include <cstdio>
#include <vector>

struct Node {
  double value[6];
  Node* next;
};

static Node* push(Node* head) {
  return new Node{{}, head};
}

int main() {
  std::vector<Node*> lists(4);
  for (int i = 0; i < 2000; ++i) {
    for (Node*& list : lists) list = push(list);
  }
#pragma omp parallel
  for (int step = 0; step < 20; ++step) {
    for (Node* node = lists[omp_get_thread_num()]; node != nullptr; node = node->next) {
      node->value[step % 6] += step;  // touched: list
    }
#pragma omp barrier
  }
  double sum = 0;
  for (const Node* list : lists) {
    for (; list != nullptr; list = list->next) sum += list->value[3];
  }
  std::printf("%g\n", sum);
}
