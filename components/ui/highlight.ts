export type Language =
  | 'bash'
  | 'js'
  | 'tsx'
  | 'html'
  | 'json'
  | 'python'
  | 'go'
  | 'php'
  | 'ruby'
  | 'swift'
  | 'http'
  | 'text'
export type Piece = { kind: 's' | 'k' | 'n' | 'c' | ''; text: string }

const KEYWORDS: Partial<Record<Language, string>> = {
  js: 'import from export const let function return if else await async new throw default true false null undefined class extends for of try catch',
  python:
    'import from def return if else elif not in for while with as raise try except True False None class and or',
  go: 'package import func return if else for range var const type struct nil true false err',
  php: 'function return if else foreach as new true false null echo exit fn const list',
  ruby: 'require def end return if else unless do each true false nil raise then and or',
  swift: 'import func let var guard else if return async await throws throw try as nil true false for in',
  bash: 'curl export echo',
  json: 'true false null',
  http: 'POST GET HEAD PATCH DELETE PUT HTTP',
}
const HASH_COMMENTS = new Set<Language>(['bash', 'python', 'ruby', 'php'])

/** Strings, comments, keywords and numbers: enough for reading, and the browser has no highlighter to load. */
export function highlight(code: string, language: Language): Piece[] {
  if (language === 'text') return [{ kind: '', text: code }]
  const words = new Set(
    (KEYWORDS[language === 'tsx' || language === 'html' ? 'js' : language] ?? '').split(' '),
  )
  const comment = HASH_COMMENTS.has(language) ? '#[^\\n]*' : '(?<![:"\'])//[^\\n]*|/\\*[\\s\\S]*?\\*/'
  const string = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\``
  const pattern = new RegExp(
    `(${language === 'json' ? '(?!)' : comment})|(${string})|\\b(\\d[\\d_.]*)\\b|([A-Za-z_]\\w*)`,
    'g',
  )
  const pieces: Piece[] = []
  const push = (kind: Piece['kind'], text: string) => {
    const last = pieces.at(-1)
    if (last?.kind === kind) last.text += text
    else if (text) pieces.push({ kind, text })
  }
  let end = 0
  for (const match of code.matchAll(pattern)) {
    push('', code.slice(end, match.index))
    const [text, isComment, isString, isNumber] = match
    const kind = isComment ? 'c' : isString ? 's' : isNumber ? 'n' : words.has(text) ? 'k' : ''
    push(kind, text)
    end = match.index + text.length
  }
  push('', code.slice(end))
  return pieces
}
