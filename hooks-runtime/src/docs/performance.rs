#![doc = include_str!("performance.md")]
