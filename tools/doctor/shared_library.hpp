// A library that may be missing, loaded when it is asked for.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>

namespace wirewise {

class SharedLibrary {
  public:
    // The first of the names that can be loaded.
    explicit SharedLibrary(std::initializer_list<const char*> names) {
        for (const char* const name : names) {
            handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
            if (handle_) {
                name_ = name;
                return;
            }
        }
    }
    ~SharedLibrary() {
        if (handle_) ::dlclose(handle_);
    }
    SharedLibrary(const SharedLibrary&) = delete;
    SharedLibrary& operator=(const SharedLibrary&) = delete;

    explicit operator bool() const { return handle_ != nullptr; }
    const std::string& name() const { return name_; }

    // Null where there is none.
    template <class Function>
    Function* find(const char* symbol) const {
        return handle_ ? reinterpret_cast<Function*>(::dlsym(handle_, symbol)) : nullptr;
    }

  private:
    void* handle_ = nullptr;
    std::string name_;
};

}  // namespace wirewise
