package sluice

import "encoding/json"

// Nullable is a field that can be left out, which is its zero value, set to null, or set to a value.
type Nullable[T any] struct {
	value *T
	isSet bool
}

// Value is a field with this value.
func Value[T any](value T) Nullable[T] { return Nullable[T]{&value, true} }

// Null is a field that is null.
func Null[T any]() Nullable[T] { return Nullable[T]{nil, true} }

// Get returns nil if the field is null or was left out.
func (n Nullable[T]) Get() *T { return n.value }

// IsZero reports whether the field was left out.
func (n Nullable[T]) IsZero() bool { return !n.isSet }

func (n Nullable[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.value) }

func (n *Nullable[T]) UnmarshalJSON(text []byte) error {
	n.isSet = true
	return json.Unmarshal(text, &n.value)
}
