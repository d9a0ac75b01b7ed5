//! Numbers that belong to one kind of thing: the number of an entry cannot be used as the number of a line.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A number that counts one kind of thing, from 0.
pub trait TypedIndex: Copy {
    /// Returns the plain number, for a slice that has an element for each thing.
    fn index(self) -> usize;
}

/// Declares the number of one kind of thing, and which slices it is an index of: those with an element for each thing.
///
/// It takes 4 bytes. A transcript with more lines than that cannot be read into memory.
macro_rules! typed_index {
    ($(#[$doc:meta])* $name:ident of $($element:ty),*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The highest number. It is never reached, so it can stand for "none" where an `Option` is too large.
            #[allow(dead_code)]
            pub(crate) const MAX: Self = Self(u32::MAX);

            /// Takes a plain number.
            #[inline]
            pub const fn new(index: usize) -> Self {
                Self(index as u32)
            }

            /// Returns the plain number.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the plain number as it is held.
            #[allow(dead_code)]
            pub(crate) const fn number(self) -> u32 {
                self.0
            }

            /// Returns the number that is `count` further on.
            #[inline]
            #[must_use]
            pub const fn plus(self, count: usize) -> Self {
                Self(self.0 + count as u32)
            }

            /// Returns the numbers from this one up to, but not including, `end`.
            #[inline]
            pub fn up_to(self, end: Self) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                (self.0..end.0).map(Self)
            }

            /// Returns the numbers before this one.
            #[inline]
            pub fn before(self) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                Self(0).up_to(self)
            }

            /// Returns the numbers of the first `count` things.
            #[inline]
            pub fn first(count: usize) -> impl ExactSizeIterator<Item = Self> + DoubleEndedIterator + Clone {
                Self(0).up_to(Self::new(count))
            }
        }

        impl $crate::typed_index::TypedIndex for $name {
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        $crate::typed_index::index_of!($name: $($element),*);
    };
}

/// Makes a typed number an index of slices that have an element for each thing.
macro_rules! index_of {
    ($name:ident: $($element:ty),*) => {
        $(
            impl std::ops::Index<$name> for [$element] {
                type Output = $element;

                #[inline]
                fn index(&self, at: $name) -> &$element {
                    &self[at.index()]
                }
            }

            impl std::ops::Index<$name> for Vec<$element> {
                type Output = $element;

                #[inline]
                fn index(&self, at: $name) -> &$element {
                    &self[at.index()]
                }
            }
        )*
    };
}

pub(crate) use index_of;
pub(crate) use typed_index;

/// A value for each entry of a session, for each block, or for each line, looked up by their typed numbers.
pub struct Column<I, T> {
    values: Vec<T>,
    index: PhantomData<fn(I)>,
}

impl<I: TypedIndex, T> Column<I, T> {
    /// Takes the values in order.
    pub fn new(values: Vec<T>) -> Self {
        Self {
            values,
            index: PhantomData,
        }
    }

    /// Makes a column with the same value for each of `count` things.
    pub fn filled(value: T, count: usize) -> Self
    where
        T: Clone,
    {
        Self::new(vec![value; count])
    }

    /// Returns the value of a thing, or `None` where the column is shorter.
    #[inline]
    pub fn get(&self, at: I) -> Option<&T> {
        self.values.get(at.index())
    }

    /// Returns all values in order.
    #[inline]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns all values in order.
    #[inline]
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Sets a value, and returns the one before.
    #[inline]
    pub fn replace(&mut self, at: I, value: T) -> T {
        std::mem::replace(&mut self[at], value)
    }
}

impl<I: TypedIndex, T> Index<I> for Column<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, at: I) -> &T {
        &self.values[at.index()]
    }
}

impl<I: TypedIndex, T> IndexMut<I> for Column<I, T> {
    #[inline]
    fn index_mut(&mut self, at: I) -> &mut T {
        &mut self.values[at.index()]
    }
}

impl<I, T> Default for Column<I, T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            index: PhantomData,
        }
    }
}

impl<I, T: Clone> Clone for Column<I, T> {
    fn clone(&self) -> Self {
        Self {
            values: self.values.clone(),
            index: PhantomData,
        }
    }
}

impl<I, T: PartialEq> PartialEq for Column<I, T> {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl<I, T: Eq> Eq for Column<I, T> {}

impl<I, T: fmt::Debug> fmt::Debug for Column<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}
