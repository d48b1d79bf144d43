#[automatically_derived]
#[allow(deprecated, unused_mut, unused_variables, clippy::all, clippy::pedantic)]
impl<T: Clone> ::hooks_runtime::Merge for Amendment<T> {
    const FIELDS: &'static [&'static str] = &["prepend", "type"];
    #[inline]
    fn merge(&mut self, later: Self) -> ::hooks_runtime::FieldSet {
        let mut set = ::hooks_runtime::FieldSet::new();
        if !::hooks_runtime::__private::is_filled(&self.prepend)
            && ::hooks_runtime::__private::is_filled(&later.prepend)
        {
            self.prepend = later.prepend;
            set.insert(0usize);
        }
        if !::hooks_runtime::__private::is_filled(&self.r#type)
            && ::hooks_runtime::__private::is_filled(&later.r#type)
        {
            self.r#type = later.r#type;
            set.insert(1usize);
        }
        set
    }
    #[inline]
    fn filled(&self) -> ::hooks_runtime::FieldSet {
        let mut set = ::hooks_runtime::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&self.prepend) {
            set.insert(0usize);
        }
        if ::hooks_runtime::__private::is_filled(&self.r#type) {
            set.insert(1usize);
        }
        set
    }
}
