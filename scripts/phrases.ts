/** A phrase that a native speaker would not write, what to write instead, and a sentence that has it. */
export type Phrase = { pattern: RegExp; instead: string; planted: string }

export const PHRASES: Phrase[] = [
  phrase(/\bthe texts under\b/, 'the snippets on the Embed tab', 'Add it with the texts under Embed.'),
  phrase(
    /\bwhat the (server|bucket|backend) answers\b/,
    'responses',
    'What the server answers is shown here.',
  ),
  phrase(/\bto the bucket (\S+ ){0,4}for real\b/, 'a real upload', 'It goes to the bucket for real.'),
  phrase(/\bnot ours yet\b/, 'not on npm yet', 'Their names on npm are not ours yet.'),
  phrase(/\bend of the link is missing\b/, 'this link is incomplete', 'The end of the link is missing.'),
  phrase(/\bkeys that may\b/, 'credentials with permission to', 'Keys that may put objects.'),
  phrase(/\bfound by their\b/, 'detected automatically', 'Some are found by their regions.'),
  phrase(/\btime is over\b/, 'has expired', 'It creates no uploads, since its time is over.'),
  phrase(/\bas absent as\b/, 'return 404, as if they did not exist', 'It is as absent as any other.'),
  phrase(/\bwhat never was\b/, 'a missing resource', 'It equals what never was.'),
  phrase(/\bnot yours to\b/, 'you do not have permission', 'This is not yours to do.'),
  phrase(/\btake a fresh\b/, 'request a new', 'Take a fresh token from your backend.'),
  phrase(/\bin the inbox here\b/, 'in the built-in inbox', 'In the inbox here.'),
  phrase(/\ba command line\b/, 'a command-line tool', 'It comes with a command line.'),
  phrase(/\bunder way\b/, 'in progress', 'Under way'),
  phrase(/\banew\b/, 'again, or start over', 'Begin the upload anew.'),
  phrase(
    /\bno \w+ and no \w+ has\b/,
    'no failed uploads or webhooks',
    'No upload and no webhook has failed.',
  ),
  phrase(
    /\b(one|ones|those|token|link|session|sessions|states?|files?) of before\b/,
    'the previous',
    'The one of before signs.',
  ),
  phrase(/\bsince a time\b/, 'since a given time', 'Send all again that failed since a time.'),
  phrase(/\barrived, or will not\b/, 'arrived or failed', 'A file arrived, or will not.'),
  phrase(/\bwhoever runs\b/, 'your administrator', 'Ask whoever runs the installation.'),
  phrase(/\bhas been wrong so far\b/, 'no alerts yet', 'Nothing has been wrong so far.'),
  phrase(/\bis nothing unusual\b/, 'turns a 404 into undefined', 'That it is gone is nothing unusual.'),
  phrase(/\b(is|are|was|were) told of\b/, 'is notified, or is reported', 'It is told of as the latter.'),
  phrase(/\b(what|whoever) is no\b/, 'an invalid …', 'What is no day is rejected.'),
  phrase(/\b(route|app|page|handler)s? of Next\b/, 'a Next.js route', 'This is a route of Next.js.'),
  phrase(/\be-mails?\b/, 'email', 'Send an E-mail.'),
  phrase(
    /\bthe pages? of (a|the|each) (file|pipe|sender|webhook|data store)\b/,
    'the file page',
    'See the page of a file.',
  ),
]

/** A phrase may continue on the next line of a paragraph or a comment. */
function phrase({ source }: RegExp, instead: string, planted: string): Phrase {
  const gap = String.raw`(?:[ \t]|\n[ \t]*(?:\*|\/\/|#)?)+`
  return { pattern: new RegExp(source.replaceAll(' ', gap), 'gi'), instead, planted }
}
