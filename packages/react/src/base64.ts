export function toBase64(bytes: Iterable<number>): string {
  return btoa(String.fromCharCode(...bytes))
}

export const textToBase64 = (text: string): string => toBase64(new TextEncoder().encode(text))

/** Also accepts base64url. */
export function textOfBase64(text: string): string {
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  )
  return new TextDecoder().decode(bytes)
}
