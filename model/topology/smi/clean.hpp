// Pasted text -> plain lines: what terminals, chats and Markdown added is taken off, and said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wirewise::smi {

// Repairs are named once each, in order of first use.
class Repairs {
  public:
    void note(std::string repair);
    const std::vector<std::string>& list() const { return list_; }

  private:
    std::vector<std::string> list_;
};

std::vector<std::string> clean_lines(std::string_view text, Repairs& repairs);

}  // namespace wirewise::smi
