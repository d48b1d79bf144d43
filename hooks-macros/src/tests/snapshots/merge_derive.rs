#[automatically_derived]
#[allow(deprecated, unused_mut, unused_variables, clippy::all, clippy::pedantic)]
impl<T: Clone> ::hooks_runtime::__private::Merge for Amendment<T> {
    const FIELDS: &'static [&'static ::core::primitive::str] = &["prepend", "type"];
    #[inline(always)]
    fn merge(&mut self, mut __later: Self) -> ::hooks_runtime::__private::FieldSet {
        let mut __set = ::hooks_runtime::__private::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&__later.prepend) {
            if ::hooks_runtime::__private::is_filled(&self.prepend) {
                ::hooks_runtime::__private::drop_field(&mut __later.prepend);
            } else {
                ::core::mem::swap(&mut self.prepend, &mut __later.prepend);
                __set.insert(0usize);
            }
        }
        if ::hooks_runtime::__private::is_filled(&__later.r#type) {
            if ::hooks_runtime::__private::is_filled(&self.r#type) {
                ::hooks_runtime::__private::drop_field(&mut __later.r#type);
            } else {
                ::core::mem::swap(&mut self.r#type, &mut __later.r#type);
                __set.insert(1usize);
            }
        }
        __set
    }
    #[inline]
    fn filled(&self) -> ::hooks_runtime::__private::FieldSet {
        let mut __set = ::hooks_runtime::__private::FieldSet::new();
        if ::hooks_runtime::__private::is_filled(&self.prepend) {
            __set.insert(0usize);
        }
        if ::hooks_runtime::__private::is_filled(&self.r#type) {
            __set.insert(1usize);
        }
        __set
    }
    fn drop_fields(&mut self) {
        if ::hooks_runtime::__private::is_filled(&self.prepend) {
            ::hooks_runtime::__private::drop_field(&mut self.prepend);
        }
        if ::hooks_runtime::__private::is_filled(&self.r#type) {
            ::hooks_runtime::__private::drop_field(&mut self.r#type);
        }
    }
}
