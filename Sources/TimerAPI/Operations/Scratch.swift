import WireJSON

/// The JSON writer of a loop, whose memory is reused for each answer.
final class Scratch {
    var json = JSONWriter()
}
