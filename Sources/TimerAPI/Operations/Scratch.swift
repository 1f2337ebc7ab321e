import WireJSON

/// The writer of a loop, whose memory serves one answer after another.
final class Scratch {
    var json = JSONWriter()
}
