/** The token of an `Authorization: Bearer …` header (RFC 6750, 2.1), or undefined. */
export function bearerToken(header: string | null | undefined): string | undefined {
  return header?.match(/^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i)?.[1]
}
