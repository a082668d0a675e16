// `ordered(13)`: at most 12 loops may be nested
int main(void) {
  int sum = 0;
#pragma omp parallel for ordered(13)
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 1; ++b)
      for (int c = 0; c < 1; ++c)
        for (int d = 0; d < 1; ++d)
          for (int e = 0; e < 1; ++e)
            for (int f = 0; f < 1; ++f)
              for (int g = 0; g < 1; ++g)
                for (int h = 0; h < 1; ++h)
                  for (int i = 0; i < 1; ++i)
                    for (int j = 0; j < 1; ++j)
                      for (int k = 0; k < 1; ++k)
                        for (int l = 0; l < 1; ++l)
                          for (int m = 0; m < 1; ++m) {
#pragma omp ordered depend(sink : a - 1, b, c, d, e, f, g, h, i, j, k, l, m)
                            ++sum;
#pragma omp ordered depend(source)
                          }
  return sum;
}
