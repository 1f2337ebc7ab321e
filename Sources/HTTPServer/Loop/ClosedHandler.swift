/// Stands in for the handler of a loop that has ended; answers that outlive it end here.
final class ClosedHandler: LoopHandler {
    func admit(_ exchange: Exchange) -> Admission { .refuse }
    func handle(_ exchange: Exchange, _ answer: consuming Answer) {}
    func turnEnded() {}
    func woken() {}
    func tick(now: Int64) {}
    func streamWritable(_ stream: DetachedStream) {}
    func streamClosed(_ stream: DetachedStream) {}
    func parkedClosed(_ parked: ParkedAnswer) {}
    func drainBegan() {}
    func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {}
}
