#include "executor/ranks/message.hpp"

#include <cstring>

#include "executor/ranks/socket.hpp"

namespace wirewise {

namespace {

struct Head {
    std::uint32_t kind = 0;
    std::uint32_t key_bytes = 0;
    std::uint64_t value_bytes = 0;
    std::int64_t number = 0, count = 0;
};

}  // namespace

std::string encoded(const Message& message) {
    const Head head{static_cast<std::uint32_t>(message.kind), static_cast<std::uint32_t>(message.key.size()),
                    message.value.size(), message.number, message.count};
    std::string text(reinterpret_cast<const char*>(&head), sizeof head);
    return text.append(message.key).append(message.value);
}

void MessageReader::take(std::span<const std::byte> bytes) {
    pending_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<Message> MessageReader::next() {
    Head head;
    if (pending_.size() < sizeof head) return std::nullopt;
    std::memcpy(&head, pending_.data(), sizeof head);
    if (head.kind > static_cast<std::uint32_t>(MessageKind::goodbye) || head.key_bytes > longest_ ||
        head.value_bytes > longest_)
        throw NetworkError("got what is no message of a run");
    const std::size_t bytes = sizeof head + head.key_bytes + head.value_bytes;
    if (pending_.size() < bytes) return std::nullopt;
    Message message{static_cast<MessageKind>(head.kind), head.number, head.count,
                    pending_.substr(sizeof head, head.key_bytes),
                    pending_.substr(sizeof head + head.key_bytes, head.value_bytes)};
    pending_.erase(0, bytes);
    return message;
}

}  // namespace wirewise
