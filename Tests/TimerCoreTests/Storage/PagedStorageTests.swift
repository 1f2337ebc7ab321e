import Testing

@testable import TimerCore

/// Runs of values in pages.
struct PagedStorageTests {
    @Test(arguments: [0, 3, 6, 8], [1, 7, 64, 300])
    func `elements keep their values as the run grows, and new ones are filled`(pageShift: Int, step: Int) {
        var storage = PagedStorage(pageShift: pageShift, fill: -1)
        for first in stride(from: 0, to: 1500, by: step) {
            #expect(storage.grow(by: step) == first)
            #expect(storage.count == first + step)
            for index in first..<first + step {
                #expect(storage[index] == -1)
                storage[index] = index
            }
            for index in 0..<storage.count where storage[index] != index {
                Issue.record("the element at \(index) is \(storage[index])")
            }
        }
    }
}
