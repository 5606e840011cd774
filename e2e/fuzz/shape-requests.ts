import type { Random } from '../../test/support/random.ts'

/** One request as the fuzz run makes it: of every kind that this server takes, each part right, nearly right or noise. */
export type Shaped = {
  kind: string
  method: string
  path: string
  fields: Record<string, string>
  body?: string
}

export type Known = {
  cookie: string
  accountKey: string
  senderToken: string
  /** Of an upload that is in progress, and of its Pipe. */
  uploadPath: string
  uploadToken: string
  pipeId: string
  actions: string[]
}

const PAGES = [
  ...['/', '/login', '/sign-up', '/forgot-password', '/reset-password', '/verify-email', '/docs'],
  ...['/docs/limits', '/docs/api', '/llms.txt', '/dashboard', '/dashboard/files', '/dashboard/pipes'],
  ...['/dashboard/pipes/{id}', '/dashboard/pipes/{id}/files', '/dashboard/pipes/new', '/dashboard/senders'],
  ...['/dashboard/senders/{id}', '/dashboard/data-stores', '/dashboard/data-stores/{id}', '/dashboard/usage'],
  ...[
    '/dashboard/usage/csv',
    '/dashboard/webhooks',
    '/dashboard/webhooks/inbox',
    '/dashboard/webhooks/verify',
  ],
  ...[
    '/dashboard/settings',
    '/dashboard/settings/keys',
    '/dashboard/settings/audit',
    '/dashboard/files/{id}',
  ],
]
const NAMES = [
  'error',
  'next',
  'cursor',
  'status',
  'filename',
  'within',
  'pipeId',
  'senderId',
  'month',
  'state',
  'new',
]
const API = [
  ...[
    '/data-stores',
    '/pipes',
    '/senders',
    '/files',
    '/deliveries',
    '/tokens',
    '/usage',
    '/account-keys',
    '/audit-log',
  ],
  ...[
    '/data-stores/{id}',
    '/pipes/{id}',
    '/senders/{id}',
    '/files/{id}',
    '/deliveries/{id}',
    '/pipes/{id}/webhook',
  ],
  ...['/data-stores/{id}/check', '/senders/{id}/rotate', '/files/{id}/cancel', '/deliveries/{id}/resend'],
  ...['/deliveries/resend-failed', '/tokens/{id}/revoke', '/openapi.json', '/pipes/{id}/webhook/test'],
]
const ODD = [
  ...[
    '__proto__',
    'constructor',
    '%00',
    '%ff',
    '..',
    '%2e%2e',
    '//',
    '\\',
    "'",
    '"',
    '<script>',
    '$1',
    '-1',
    '0',
  ],
  ...[
    '1e300',
    'NaN',
    'null',
    '[]',
    '{}',
    'x'.repeat(300),
    '0020-01-01T00:00:00Z',
    '9'.repeat(40),
    '%F0%9F%93%B7',
  ],
]
const UUID = '019a0000-0000-7000-8000-000000000000'

export function shapeRequest(random: Random, known: Known): Shaped {
  return random.pick([page, page, action, form, api, api, auth, endpoint, endpoint, inbox])(random, known)
}

const noise = (random: Random, most = 60): string =>
  Array.from({ length: random.whole(0, most) }, () => String.fromCharCode(random.whole(0x20, 0x7e))).join('')
const odd = (random: Random): string =>
  random.chance(0.7) ? random.pick(ODD) : encodeURIComponent(noise(random))
const idOf = (random: Random, known: Known): string => random.pick([known.pipeId, UUID, odd(random)])
const fill = (path: string, random: Random, known: Known) => path.replace('{id}', idOf(random, known))

function query(random: Random): string {
  const pairs = Array.from({ length: random.whole(0, 3) }, () => `${random.pick(NAMES)}=${odd(random)}`)
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

function json(random: Random, depth = 0): unknown {
  const leaf = [
    noise(random),
    random.pick(ODD),
    random.whole(-5, 1e9),
    true,
    null,
    UUID,
    `$${noise(random, 4)}`,
  ]
  if (depth > 2 || random.chance(0.5)) return random.pick(leaf)
  const inner = () => json(random, depth + 1)
  if (random.chance(0.4)) return Array.from({ length: random.whole(0, 4) }, inner)
  const names = ['name', 'url', 'pipeId', 'dataStoreId', 'statuses', 'since', '__proto__', noise(random, 8)]
  return Object.fromEntries(Array.from({ length: random.whole(0, 4) }, () => [random.pick(names), inner()]))
}

const signedIn = (random: Random, known: Known): Record<string, string> =>
  random.chance(0.7) ? { Cookie: known.cookie } : { Cookie: `next-auth.session-token=${noise(random)}` }

function page(random: Random, known: Known): Shaped {
  const path = fill(random.pick(PAGES), random, known) + query(random)
  const method = random.pick(['GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
  const rsc: Record<string, string> = random.chance(0.2)
    ? { RSC: '1', 'Next-Router-State-Tree': odd(random) }
    : {}
  return { kind: 'page', method, path, fields: { ...signedIn(random, known), ...rsc } }
}

function action(random: Random, known: Known): Shaped {
  const id = random.chance(0.9) ? random.pick(known.actions) : noise(random, 40)
  const args = Array.from({ length: random.whole(0, 3) }, () => json(random))
  const body = random.chance(0.9) ? JSON.stringify(args) : noise(random)
  const type = random.chance(0.8) ? 'text/plain;charset=UTF-8' : 'multipart/form-data; boundary=x'
  const fields = { ...signedIn(random, known), 'Next-Action': id, 'Content-Type': type }
  return { kind: 'action', method: 'POST', path: '/dashboard', fields, body }
}

function form(random: Random, known: Known): Shaped {
  const names = [
    `$ACTION_ID_${random.pick(known.actions)}`,
    '$ACTION_REF_1',
    '$ACTION_1:0',
    '$ACTION_KEY',
    'email',
    '0',
  ]
  const parts = Array.from({ length: random.whole(0, 4) }, () => {
    const value = random.chance(0.5) ? JSON.stringify(json(random)) : noise(random)
    return `--x\r\nContent-Disposition: form-data; name="${random.pick(names)}"\r\n\r\n${value}\r\n`
  })
  const body = parts.join('') + (random.chance(0.8) ? '--x--\r\n' : '')
  const fields = { ...signedIn(random, known), 'Content-Type': 'multipart/form-data; boundary=x' }
  return {
    kind: 'form',
    method: 'POST',
    path: random.pick(['/login', '/dashboard', '/dashboard/settings']),
    fields,
    body,
  }
}

function api(random: Random, known: Known): Shaped {
  const method = random.pick(['GET', 'GET', 'POST', 'PUT', 'PATCH', 'HEAD'])
  const path = `/api/v1${fill(random.pick(API), random, known)}${query(random)}`
  const key = random.pick([known.accountKey, known.accountKey, known.senderToken, noise(random)])
  const fields = {
    Authorization: `Bearer ${key}`,
    'Content-Type': random.pick(['application/json', noise(random)]),
  }
  if (method === 'GET' || method === 'HEAD') return { kind: 'api', method, path, fields }
  return {
    kind: 'api',
    method,
    path,
    fields,
    body: random.chance(0.9) ? JSON.stringify(json(random)) : noise(random),
  }
}

function auth(random: Random, _: Known): Shaped {
  const names = [
    'csrf',
    'session',
    'providers',
    'signin',
    'signout',
    'callback/credentials',
    'error',
    '_log',
    odd(random),
  ]
  const path = `/api/auth/${random.pick(names)}?callbackUrl=${odd(random)}`
  const type = random.pick(['application/json', 'application/x-www-form-urlencoded'])
  const body = random.chance(0.5) ? JSON.stringify(json(random)) : `csrfToken=x&callbackUrl=${odd(random)}`
  const fields = { 'Content-Type': type, Cookie: `next-auth.callback-url=${odd(random)}` }
  return random.chance(0.5)
    ? { kind: 'auth', method: 'GET', path, fields }
    : { kind: 'auth', method: 'POST', path, fields, body }
}

function endpoint(random: Random, known: Known): Shaped {
  const right: Record<string, string[]> = {
    'Tus-Resumable': ['1.0.0', '0.2.2'],
    'Upload-Length': ['0', '5', '-1', '1e9', '9'.repeat(30)],
    'Upload-Offset': ['0', '1', '1000'],
    'Upload-Metadata': ['filename YQ==', 'a,b', 'filename ', 'filetype dGV4dC9wbGFpbg=='],
    'Upload-Checksum': ['sha1 ', 'crc32 AAAAAA==', 'md5 x'],
    'Upload-Concat': ['partial', 'final;/a /b', `final;${known.uploadPath}`],
    'Upload-Defer-Length': ['1', '0'],
    'Content-Type': ['application/offset+octet-stream', 'application/partial-upload', 'text/plain'],
    'Upload-Complete': ['?0', '?1', '1'],
    'Upload-Draft-Interop-Version': ['3', '6', '8', '10', '99'],
    'Content-Disposition': ['attachment; filename=a', "inline; filename*=UTF-8''%e2%82%ac"],
    'Content-MD5': ['1B2M2Y8AsgTpgAmY7PhCfg==', 'x'],
    'Repr-Digest': ['sha-256=:AAAA:', 'x'],
    Origin: ['https://a.example', 'null'],
    Upgrade: ['websocket', 'h2c'],
  }
  const fields: Record<string, string> = {
    'Tus-Resumable': '1.0.0',
    Authorization: `Bearer ${known.uploadToken}`,
  }
  for (const [name, values] of Object.entries(right))
    if (random.chance(0.4)) fields[name] = random.chance(0.8) ? random.pick(values) : noise(random)
  if (random.chance(0.1)) fields.Authorization = `Bearer ${noise(random)}`
  // Without it, most are of the other protocols.
  if (random.chance(0.4)) delete fields['Tus-Resumable']
  const method = random.pick(['POST', 'HEAD', 'PATCH', 'OPTIONS', 'GET', 'PUT'])
  const paths = [
    known.uploadPath,
    known.uploadPath.replace(/[^/]*$/, ''),
    `/pipes/${odd(random)}/files/${odd(random)}`,
  ]
  const body = ['POST', 'PATCH', 'PUT'].includes(method) ? noise(random, 400) : ''
  return { kind: 'upload endpoint', method, path: random.pick(paths), fields, body }
}

function inbox(random: Random, _: Known): Shaped {
  const path = random.pick([
    `/api/inbox/${odd(random)}`,
    `/api/live?topic=${odd(random)}`,
    `/${odd(random)}/${odd(random)}`,
  ])
  return { kind: 'other', method: random.pick(['GET', 'POST']), path, fields: {}, body: noise(random, 400) }
}
