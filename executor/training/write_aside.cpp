#include "executor/training/write_aside.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "model/units/error.hpp"

namespace wirewise {

FileAside::FileAside(std::filesystem::path path)
    : path_(std::move(path)), aside_(path_.string() + ".partial") {
    file_ = ::open(aside_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file_ < 0) fail("open");
}

FileAside::~FileAside() {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(aside_.c_str());
}

void FileAside::write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) fail("write");
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
}

// The folder is synced too: a rename is a change of the folder.
void FileAside::commit() {
    if (::fsync(file_) != 0) fail("fsync");
    if (::rename(aside_.c_str(), path_.c_str()) != 0) fail("rename");
    ::close(file_);
    file_ = -1;
    const std::filesystem::path parent = path_.has_parent_path() ? path_.parent_path() : ".";
    const int folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
}

void FileAside::fail(std::string_view call) const {
    throw InputError(path_.string(), std::string(call) + ": " + std::strerror(errno),
                     "give a writable place with enough room");
}

}  // namespace wirewise
