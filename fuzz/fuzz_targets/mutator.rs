// Every other time a session is broken as sessions break, else as the fuzzer likes.
libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 {
        return libfuzzer_sys::fuzzer_mutate(data, size, max_size);
    }
    let mut bytes = data[..size].to_vec();
    mutate::mutate(&mut bytes, &mut mutate::Dice(u64::from(seed)));
    let len = bytes.len().min(max_size);
    data[..len].copy_from_slice(&bytes[..len]);
    len
});
