/// The handler of a loop that has ended: answers that outlive the loop go nowhere.
final class ClosedHandler: LoopHandler {
    func admit(_ exchange: Exchange) -> Admission { .refuse }
    func handle(_ exchange: Exchange, _ answer: consuming Answer) {}
    func renderRefusal(_ refusal: Refusal, into exchange: Exchange) {}
}
