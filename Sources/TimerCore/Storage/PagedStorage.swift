/// A growing run of plain values in pages: growth costs one page, never a copy of all.
///
/// The first page begins small and doubles, moving its elements, until it is as large as the others: a process may have
/// thousands of runs with few elements. Elements of later pages never move.
///
/// This is the one place, with `Blob`, where this module holds raw memory: an `Array` would copy everything when it
/// doubles (tens of milliseconds at ten million timers), and zero-cost in-place access across pages needs stable
/// addresses.
@safe struct PagedStorage<Element: BitwiseCopyable>: ~Copyable {
    private var pages: [UnsafeMutablePointer<Element>] = unsafe []
    /// The number of elements that the pages have room for.
    private var capacity = 0
    private let shift: Int
    private let fill: Element
    /// The number of elements.
    private(set) var count = 0

    /// The first page starts with the size of a full page shifted right by this many bits.
    private static var firstShift: Int { 6 }

    /// Makes an empty run whose pages hold `1 << pageShift` elements, each `fill` at first.
    init(pageShift: Int, fill: Element) {
        shift = pageShift
        self.fill = fill
    }

    deinit {
        for index in unsafe pages.indices { unsafe pages[index].deallocate() }
    }

    /// Adds `extra` elements at the end and returns the index of the first.
    mutating func grow(by extra: Int) -> Int {
        let first = count
        count += extra
        while count > capacity {
            if capacity < 1 << shift {
                growFirstPage()
            } else {
                unsafe pages.append(makePage(1 << shift))
                capacity += 1 << shift
            }
        }
        return first
    }

    private mutating func growFirstPage() {
        let size = capacity == 0 ? max(1, 1 << (shift - Self.firstShift)) : 2 * capacity
        let page = unsafe makePage(size)
        if let old = unsafe pages.first {
            unsafe page.update(from: old, count: capacity)
            unsafe old.deallocate()
        }
        unsafe pages = [page]
        capacity = size
    }

    private func makePage(_ size: Int) -> UnsafeMutablePointer<Element> {
        let page = UnsafeMutablePointer<Element>.allocate(capacity: size)
        unsafe page.initialize(repeating: fill, count: size)
        return unsafe page
    }

    /// The element at `index`, in place.
    subscript(index: Int) -> Element {
        @inline(__always) _read {
            precondition(index >= 0 && index < count, "an index within the storage")
            yield unsafe pages[index >> shift][index & (1 << shift - 1)]
        }
        @inline(__always) _modify {
            precondition(index >= 0 && index < count, "an index within the storage")
            yield unsafe &pages[index >> shift][index & (1 << shift - 1)]
        }
    }
}
