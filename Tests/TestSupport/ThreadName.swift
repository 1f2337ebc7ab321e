import Platform

/// The name of the thread that asks, as the house gives it to each of its threads.
package var threadName: String {
    let name = FileBytes.read("/proc/thread-self/comm", limit: 64) ?? []
    return String(decoding: name.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}
