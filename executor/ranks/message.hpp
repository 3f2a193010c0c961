// What ranks and the store say to one another: framed messages. All machines of a run are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wirewise {

enum class MessageKind : std::uint32_t {
    hello,    // rank -> store: number = rank, count = world, key = token, value = version
    welcome,  // store -> rank: the run's token was right
    refused,  // store -> rank: value = why
    set,      // rank -> store: key, value
    get,      // rank -> store: key
    value,    // store -> rank: key, value
    alive,    // both ways: value = where the rank is
    failed,   // rank -> store: number = exit code, value = why
    ended,    // store -> rank: number = exit code, count = rank, value = why the run ends
    leave,    // rank -> store: has nothing more to do
    goodbye,  // store -> rank: nobody has
};

struct Message {
    MessageKind kind{};
    std::int64_t number = 0, count = 0;
    std::string key, value;
};

std::string encoded(const Message& message);

// Takes bytes as they arrive, gives messages as they are complete.
class MessageReader {
  public:
    // `longest`: in bytes; what says that it is longer is no message of ours, and next() throws NetworkError.
    explicit MessageReader(std::size_t longest) : longest_(longest) {}
    void allow(std::size_t longest) { longest_ = longest; }
    void take(std::span<const std::byte> bytes);
    std::optional<Message> next();

  private:
    std::size_t longest_;
    std::string pending_;
};

}  // namespace wirewise
