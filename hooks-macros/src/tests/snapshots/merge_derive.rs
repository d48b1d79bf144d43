#[automatically_derived]
#[allow(deprecated, unused_mut, unused_variables, clippy::all, clippy::pedantic)]
impl<T: Clone> ::hooks_runtime::Merge for Amendment<T> {
    const FIELDS: &'static [&'static ::core::primitive::str] = &["prepend", "type"];
    #[inline(always)]
    fn merge(&mut self, mut __later: Self) -> ::hooks_runtime::FieldSet {
        let mut __set = ::hooks_runtime::FieldSet::new();
        if !::hooks_runtime::__private::is_filled(&self.prepend)
            && ::hooks_runtime::__private::is_filled(&__later.prepend)
        {
            ::core::mem::swap(&mut self.prepend, &mut __later.prepend);
            __set.insert(0usize);
        }
        if !::hooks_runtime::__private::is_filled(&self.r#type)
            && ::hooks_runtime::__private::is_filled(&__later.r#type)
        {
            ::core::mem::swap(&mut self.r#type, &mut __later.r#type);
            __set.insert(1usize);
        }
        __set
    }
    #[inline]
    fn filled(&self) -> ::hooks_runtime::FieldSet {
        let mut __set = ::hooks_runtime::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&self.prepend) {
            __set.insert(0usize);
        }
        if ::hooks_runtime::__private::is_filled(&self.r#type) {
            __set.insert(1usize);
        }
        __set
    }
}
