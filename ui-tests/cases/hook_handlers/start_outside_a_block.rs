// A start is a method of a block.
#[start]
async fn open() {}

fn main() {}
