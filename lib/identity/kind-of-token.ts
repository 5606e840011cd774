const KINDS: Record<string, string> = {
  ak: 'an account key',
  sk: 'a Sender token',
  tmp: 'a temporary token',
}

/** Names the kind of token, because all kinds look alike. Undefined if it is not a token of Sluice. */
export function kindOfToken(text: string): string | undefined {
  return KINDS[text.match(/^(ak|sk|tmp)_/)?.[1] ?? '']
}
