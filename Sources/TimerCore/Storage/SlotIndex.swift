/// The place of a timer: an index into the table's slab.
public typealias SlotIndex = UInt32
