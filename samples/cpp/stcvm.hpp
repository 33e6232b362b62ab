// stcvm.hpp: stcvm.h for C++17: objects that free themselves, errors as exceptions, arrays as
// views of a pointer and a length (std::vector, std::array, C arrays fit).
//
//     stcvm::machine m;
//     auto A = m.coords<double>("csr", {3, 3}, {{0, 1}, {2, 2}}, {4.0, 5.0});
//     auto p = m.compile("y(i) = A(i,j) * x(j)", {{"A", "csr"}, {"x"}});
//     p.bind("A", A).bind("x", x).run();
//     for (double v : p.result<double>("y")) …
//
// A machine outlives what is made with it, and a tensor what it is bound to, as in C. What isn't
// here is called on the handles: m.get(), A.get(), p.get().
#ifndef STCVM_HPP
#define STCVM_HPP

#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <stcvm.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace stcvm {

// A pointer and a length: std::span, which C++17 lacks.
template <class T> class span {
  public:
    span() = default;
    span(T *data, std::size_t size) : data_(data), size_(size) {}
    template <class C, class = decltype(std::declval<C &>().data())>
    span(C &c) : data_(c.data()), size_(c.size()) {}
    template <class C, class = decltype(std::declval<const C &>().data())>
    span(const C &c) : data_(c.data()), size_(c.size()) {}
    T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
    T &operator[](std::size_t k) const { return data_[k]; }

  private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

// What stc_error tells.
class error : public std::runtime_error {
  public:
    explicit error(const stc_error_info &e)
        : std::runtime_error(where(e) + e.message), status(e.status), line(e.line),
          column(e.column) {}
    const stc_status status;
    const int line, column;

  private:
    static std::string where(const stc_error_info &e)
    {
        return e.line ? std::to_string(e.line) + ":" + std::to_string(e.column) + ": " : "";
    }
};

template <class T> constexpr stc_type type_of();
template <> constexpr stc_type type_of<bool>() { return STC_BOOL; }
template <> constexpr stc_type type_of<std::int8_t>() { return STC_I8; }
template <> constexpr stc_type type_of<std::int16_t>() { return STC_I16; }
template <> constexpr stc_type type_of<std::int32_t>() { return STC_I32; }
template <> constexpr stc_type type_of<std::int64_t>() { return STC_I64; }
template <> constexpr stc_type type_of<std::uint8_t>() { return STC_U8; }
template <> constexpr stc_type type_of<std::uint16_t>() { return STC_U16; }
template <> constexpr stc_type type_of<std::uint32_t>() { return STC_U32; }
template <> constexpr stc_type type_of<std::uint64_t>() { return STC_U64; }
template <> constexpr stc_type type_of<float>() { return STC_F32; }
template <> constexpr stc_type type_of<double>() { return STC_F64; }
template <> constexpr stc_type type_of<std::complex<float>>() { return STC_C64; }
template <> constexpr stc_type type_of<std::complex<double>>() { return STC_C128; }

inline void check(stc_machine *m, stc_status st)
{
    if (st != STC_OK) throw error(*stc_error(m));
}

namespace detail {
struct close {
    void operator()(stc_machine *m) const { stc_close(m); }
    void operator()(stc_tensor *t) const { stc_tensor_free(t); }
    void operator()(stc_program *p) const { stc_program_free(p); }
    void operator()(stc_session *s) const { stc_session_close(s); }
};
// The elements of a tensor, which has to have this type.
template <class T> span<const T> values(const stc_tensor *t)
{
    const void *v;
    std::int64_t n;
    if (stc_tensor_type(t) != type_of<T>())
        throw std::invalid_argument(std::string("the tensor's elements are ") +
                                    stc_type_name(stc_tensor_type(t)));
    check(stc_tensor_machine(t), stc_tensor_values(t, &v, &n));
    return {static_cast<const T *>(v), static_cast<std::size_t>(n)};
}
} // namespace detail

class tensor {
  public:
    explicit tensor(stc_tensor *t) : t_(t) {}
    stc_tensor *get() const { return t_.get(); }
    int order() const { return stc_tensor_order(get()); }
    span<const std::int64_t> shape() const
    {
        return {stc_tensor_shape(get()), static_cast<std::size_t>(order())};
    }
    std::int64_t stored() const { return stc_tensor_stored(get()); }
    std::string format() const { return stc_tensor_format(get()); }
    template <class T> span<const T> values() const { return detail::values<T>(get()); }
    // All elements, row-major.
    template <class T> std::vector<T> dense() const
    {
        std::size_t n = 1;
        for (std::int64_t k : shape())
            n *= static_cast<std::size_t>(k);
        if (stc_tensor_type(get()) != type_of<T>())
            throw std::invalid_argument("the tensor's elements have another type");
        std::vector<T> out(n);
        check(stc_tensor_machine(get()), stc_tensor_to_dense(get(), out.data()));
        return out;
    }
    // The host's arrays, without a copy: they have to live as long.
    template <class T> tensor &lend(int level, stc_array_role role, span<T> a)
    {
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "indices have 4 or 8 bytes");
        const stc_array array{a.data(), static_cast<std::int64_t>(a.size()), sizeof(T), 0};
        check(stc_tensor_machine(get()), stc_tensor_lend(get(), level, role, array));
        return *this;
    }
    template <class T> tensor &lend_values(span<T> a)
    {
        check(stc_tensor_machine(get()),
              stc_tensor_lend_values(get(), a.data(), static_cast<std::int64_t>(a.size())));
        return *this;
    }
    void touch_values() { stc_tensor_touch_values(get()); }

  private:
    std::unique_ptr<stc_tensor, detail::close> t_;
};

class program {
  public:
    explicit program(stc_program *p) : p_(p) {}
    stc_program *get() const { return p_.get(); }
    program &bind(const char *name, const tensor &t)
    {
        check(machine(), stc_bind(get(), name, t.get()));
        return *this;
    }
    program &run()
    {
        check(machine(), stc_run(get()));
        return *this;
    }
    // The elements of a dense result, until the next run.
    template <class T> span<const T> result(const char *name) const
    {
        const stc_tensor *t;
        check(machine(), stc_result(get(), name, &t));
        return detail::values<T>(t);
    }
    tensor take(const char *name)
    {
        stc_tensor *t;
        check(machine(), stc_take(get(), name, &t));
        return tensor(t);
    }

  private:
    stc_machine *machine() const { return stc_program_machine(get()); }
    std::unique_ptr<stc_program, detail::close> p_;
};

// An operand, or a result whose format is chosen: a name, a format (none: dense), a type.
struct decl {
    const char *name;
    const char *format = nullptr;
    int type = STC_F64;
};

class machine {
  public:
    explicit machine(const stc_config &config = stc_config{})
    {
        stc_machine *m;
        if (stc_open(&config, &m) != STC_OK) throw std::bad_alloc();
        m_.reset(m);
    }
    stc_machine *get() const { return m_.get(); }
    // Without entries: to be lent arrays.
    tensor make(const char *format, stc_type type, const std::vector<std::int64_t> &shape)
    {
        stc_tensor *t;
        check(get(), stc_tensor_new(get(), format, type, static_cast<int>(shape.size()),
                                    shape.data(), nullptr, &t));
        return tensor(t);
    }
    // An array of the host's as a dense tensor, without a copy.
    template <class T> tensor lend(span<T> a, const std::vector<std::int64_t> &shape)
    {
        tensor t = make("dense", type_of<T>(), shape);
        t.lend_values(a);
        return t;
    }
    // From entries: coord[k] are all coordinates of mode k.
    template <class T>
    tensor coords(const char *format, const std::vector<std::int64_t> &shape,
                  const std::vector<std::vector<std::int64_t>> &coord, span<const T> values)
    {
        std::vector<std::int64_t> all;
        if (coord.size() != shape.size()) throw std::invalid_argument("coordinates by mode");
        for (const auto &mode : coord) {
            if (mode.size() != values.size())
                throw std::invalid_argument("as many coordinates as values");
            all.insert(all.end(), mode.begin(), mode.end());
        }
        stc_tensor *t;
        check(get(), stc_tensor_from_coords(get(), format, type_of<T>(),
                                            static_cast<int>(shape.size()), shape.data(),
                                            nullptr, static_cast<std::int64_t>(values.size()),
                                            all.data(), values.data(), &t));
        return tensor(t);
    }
    template <class T>
    tensor coords(const char *format, const std::vector<std::int64_t> &shape,
                  const std::vector<std::vector<std::int64_t>> &coord,
                  std::initializer_list<T> values)
    {
        return coords<T>(format, shape, coord, span<const T>(values.begin(), values.size()));
    }
    program compile(const std::string &text, std::initializer_list<decl> decls)
    {
        std::vector<stc_decl> d;
        for (const decl &x : decls)
            d.push_back({sizeof(stc_decl), x.name, x.format ? x.format : "dense", x.type, nullptr, -1});
        stc_program *p;
        check(get(),
              stc_compile(get(), text.c_str(), d.data(), static_cast<int>(d.size()), &p));
        return program(p);
    }

  private:
    std::unique_ptr<stc_machine, detail::close> m_;
};

} // namespace stcvm

#endif
