/// A growing run of plain values whose elements never move, in pages: growth costs one page, never a copy of all.
///
/// The one place, with `Blob`, where this module holds raw memory: an `Array` would copy everything when it doubles
/// (tens of milliseconds at ten million timers) and zero-cost in-place access across pages needs stable addresses.
@safe struct PagedStorage<Element: BitwiseCopyable>: ~Copyable {
    private var pages: [UnsafeMutablePointer<Element>] = unsafe []
    private let shift: Int
    private let fill: Element
    /// How many elements there are.
    private(set) var count = 0

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
        while unsafe count > pages.count << shift {
            let page = UnsafeMutablePointer<Element>.allocate(capacity: 1 << shift)
            unsafe page.initialize(repeating: fill, count: 1 << shift)
            unsafe pages.append(page)
        }
        return first
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
