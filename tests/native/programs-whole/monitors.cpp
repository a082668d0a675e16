// A shop with the C++ library's synchronisation and the language's memory: orders come by a bounded queue (mutex and
// two conditions), stock lies in shelves behind a std::shared_mutex each, accounts are changed two at a time under
// std::scoped_lock, events go into a log by virtual functions, prices into a cache that std::call_once fills; customers
// are objects that one thread makes and another deletes, and mistakes are exceptions that the region itself catches.
#include <omp.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace {

int wrong = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  ++wrong;
  std::printf("WRONG: %s\n", what);
}

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t most) : most_(most) {}
  void put(T item) {
    std::unique_lock lock(mutex_);
    has_room_.wait(lock, [&] { return items_.size() < most_; });
    items_.push_back(std::move(item));
    has_items_.notify_one();
  }
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    has_items_.wait(lock, [&] { return !items_.empty() || is_closed_; });
    if (items_.empty()) return std::nullopt;
    T item = std::move(items_.front());
    items_.pop_front();
    has_room_.notify_one();
    return item;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    has_items_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_room_, has_items_;
  std::deque<T> items_;
  std::size_t most_;
  bool is_closed_ = false;
};

class OutOfStock : public std::runtime_error {
 public:
  OutOfStock(const std::string& article, int missing)
      : std::runtime_error("no more of " + article), missing_(missing) {}
  int missing() const { return missing_; }

 private:
  int missing_;
};

class Shelf {
 public:
  void fill(const std::string& article, int count) {
    const std::unique_lock lock(mutex_);
    stock_[article] += count;
  }
  void take(const std::string& article, int count) {
    const std::unique_lock lock(mutex_);
    int& left = stock_.at(article);  // std::out_of_range for what is not sold at all
    if (left < count) throw OutOfStock(article, count - left);
    left -= count;
  }
  int count() const {
    const std::shared_lock lock(mutex_);
    return std::accumulate(stock_.begin(), stock_.end(), 0,
                           [](int sum, const auto& kind) { return sum + kind.second; });
  }

 private:
  mutable std::shared_mutex mutex_;
  std::map<std::string, int> stock_;
};

struct Account {
  std::mutex mutex;
  long balance = 0;
};

void pay(Account& from, Account& to, long sum) {
  const std::scoped_lock both(from.mutex, to.mutex);
  from.balance -= sum;
  to.balance += sum;
}

struct Customer {
  explicit Customer(int number) : name("customer number " + std::to_string(number) + " of the shop"), number(number) {
#pragma omp atomic
    ++living;
  }
  ~Customer() {
#pragma omp atomic
    --living;
  }
  Customer(const Customer&) = delete;
  Customer& operator=(const Customer&) = delete;
  std::string name;
  int number;
  static int living;
};
int Customer::living = 0;

struct Purchase {
  std::string article;
  int count = 0;
};
struct Complaint {
  std::string text;
};
struct Order {
  std::unique_ptr<Customer> customer;
  std::variant<Purchase, Complaint> wish;
};

class Event {
 public:
  virtual ~Event() = default;
  virtual int weight() const = 0;
  virtual std::string text() const { return "nothing"; }
};
class Sale : public Event {
 public:
  Sale(std::string what, int count) : what_(std::move(what)), count_(count) {}
  int weight() const override { return count_; }
  std::string text() const override { return "sold " + std::to_string(count_) + " of " + what_; }

 private:
  std::string what_;
  int count_;
};
class Trouble : public Event {
 public:
  explicit Trouble(const std::exception& error) : text_(error.what()) {}
  int weight() const override { return 0; }
  std::string text() const override { return text_; }

 private:
  std::string text_;
};

constexpr std::array<const char*, 5> articles{"a lamp for the table", "chairs", "an umbrella, rather large", "tea",
                                              "x"};

class Shop {
 public:
  explicit Shop(int customers) : accounts_(static_cast<std::size_t>(customers) + 1) {
#pragma omp parallel for schedule(static, 1)
    for (std::size_t i = 0; i < shelves_.size(); ++i) {
      for (std::size_t kind = 0; kind + 1 < articles.size(); ++kind) shelves_[i].fill(articles[kind], stock);
    }
  }

  long price_of(const std::string& article) {
    std::call_once(prices_known_, [&] {
      for (const char* name : articles) prices_[name] = static_cast<long>(std::string(name).size());
      ++fillings_;
    });
    return prices_.at(article);
  }

  void serve(const Order& order) {
    Shelf& shelf = shelves_[static_cast<std::size_t>(order.customer->number) % shelves_.size()];
    std::unique_ptr<Event> event;
    try {
      const auto& purchase = std::get<Purchase>(order.wish);
      shelf.take(purchase.article, purchase.count);
      pay(accounts_[static_cast<std::size_t>(order.customer->number) + 1], accounts_[0],
          purchase.count * price_of(purchase.article));
      event = std::make_unique<Sale>(purchase.article, purchase.count);
    } catch (const OutOfStock& error) {
      event = std::make_unique<Trouble>(error);
#pragma omp atomic
      missing_ += error.missing();
    } catch (const std::out_of_range&) {
      event = std::make_unique<Trouble>(std::runtime_error("not sold here"));
    } catch (const std::bad_variant_access& error) {
      event = std::make_unique<Trouble>(error);
    }
    const std::lock_guard lock(log_mutex_);
    log_.push_back(std::move(event));
  }

  void check(std::size_t orders, int wanted) {
    int left = 0, sold = 0;
    std::map<std::string, int> kinds;
    for (const Shelf& shelf : shelves_) left += shelf.count();
    for (const auto& event : log_) {
      sold += event->weight();
      ++kinds[dynamic_cast<const Sale*>(event.get()) != nullptr ? "sale" : event->text()];
    }
    const int filled = static_cast<int>(shelves_.size() * (articles.size() - 1)) * stock;
    expect(log_.size() == orders, "one event for each order");
    expect(filled - left == sold, "what is sold has left the shelves");
    expect(kinds["not sold here"] == static_cast<int>(orders / 10), "what is not sold");
    expect(kinds["sale"] > 0 && sold <= wanted, "sales");
    expect(fillings_ == 1, "prices are made once");
    long sum = 0;
    for (Account& account : accounts_) sum += account.balance;
    expect(sum == 0 && accounts_[0].balance > 0, "accounts");
  }

 private:
  static constexpr int stock = 40;
  std::array<Shelf, 4> shelves_;
  std::vector<Account> accounts_;
  std::once_flag prices_known_;
  std::map<std::string, long> prices_;
  int fillings_ = 0;
  int missing_ = 0;
  std::mutex log_mutex_;
  std::list<std::unique_ptr<Event>> log_;
};

/// The number of orders and the articles wanted.
Order make_order(int number) {
  Order order{std::make_unique<Customer>(number), Purchase{articles[static_cast<std::size_t>(number) % 4], number % 5}};
  if (number % 10 == 3) order.wish = Purchase{"something that nobody sells", 1};
  if (number % 10 == 7) order.wish = Complaint{"the tea was cold, and there was no sugar for it"};
  return order;
}

/// Half of the threads make orders, the others serve; a team of one does both, one after the other.
void run(int orders) {
  Shop shop(orders);
  BoundedQueue<Order> queue(6);
  int makers_left = 0, served = 0;
#pragma omp parallel reduction(+ : served)
  {
    const int me = omp_get_thread_num(), members = omp_get_num_threads(), makers = members / 2;
#pragma omp single
    makers_left = makers;
    if (members == 1) {
      for (int i = 0; i < orders; ++i) {
        queue.put(make_order(i));
        shop.serve(*queue.take());
        ++served;
      }
    } else if (me < makers) {
      for (int i = me; i < orders; i += makers) queue.put(make_order(i));
      int left = 0;
#pragma omp atomic capture
      left = --makers_left;
      if (left == 0) queue.close();
    } else {
      while (std::optional<Order> order = queue.take()) {
        shop.serve(*order);
        ++served;
      }
    }
  }
  int wanted = 0;
  for (int i = 0; i < orders; ++i) wanted += i % 5;
  expect(served == orders, "served orders");
  expect(Customer::living == 0, "customers that nobody deleted");
  shop.check(static_cast<std::size_t>(orders), wanted);
}

}  // namespace

int main(int argc, char** argv) {
  const int orders = argc > 1 ? std::atoi(argv[1]) : 120;
  run(orders / 10 * 10);
  if (wrong == 0) std::printf("%d orders: verified\n", orders);
  return wrong != 0 ? 1 : 0;
}
