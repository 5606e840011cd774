/** What most leaked passwords consist of, apart from digits and symbols. */
const WORDS = [
  ...[
    'password',
    'passwort',
    'passwd',
    'pass',
    'secret',
    'changeme',
    'default',
    'letmein',
    'welcome',
    'hello',
  ],
  ...[
    'admin',
    'administrator',
    'root',
    'user',
    'guest',
    'login',
    'test',
    'demo',
    'sluice',
    'whatever',
    'trustno',
  ],
  ...[
    'iloveyou',
    'love',
    'monkey',
    'dragon',
    'master',
    'shadow',
    'sunshine',
    'princess',
    'superman',
    'batman',
  ],
  ...['football', 'baseball', 'soccer', 'michael', 'jordan', 'charlie', 'computer', 'internet', 'google'],
]
/** Neighbors on a keyboard, the alphabet, and repetitions. */
const SEQUENCES = [
  'qwer',
  't[yz]',
  'azer',
  'uiop',
  'asdf',
  'ghjkl',
  'zxc',
  'vbnm?',
  'qaz',
  'wsx',
  'edc',
  'abc',
  'def',
  '(.)\\1{2,}',
]
const PATTERN = new RegExp(`^(?:${[...WORDS, ...SEQUENCES].join('|')})*$`)

/** The letters that digits and symbols in the middle of a word stand for. */
const LETTERS: Record<string, string> = { '@': 'a', '4': 'a', '3': 'e', '1': 'i', '0': 'o', $: 's', '5': 's' }

/**
 * True for a password that is among the first guesses, however long it is: only digits and symbols, or common words and
 * sequences with digits and symbols added.
 */
export function isGuessable(password: string): boolean {
  const spelled = password
    .toLowerCase()
    .replace(/(?<=[a-z@$])[@$01345](?=[a-z@$])/g, (symbol) => LETTERS[symbol]!)
  return PATTERN.test(spelled.replace(/\P{L}/gu, ''))
}
