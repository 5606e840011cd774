const KIB = 1024
const MIB = 1024 * KIB

/**
 * When the credential is checked: before the body is read, or with what the body contains. `none`: there is nothing to
 * protect.
 */
type Credential = 'before the body' | 'with the body' | 'none'

export type AtOnce = { most: number }

/** What requests to a path, and to all paths below it, may take. `*` stands for one segment of a path. */
type Route = {
  path: string
  credential: Credential
  /** The maximum length of a body. */
  bodyBytes: number
  /**
   * How many requests are handled at once in this process. Further requests wait, and clients take turns: each has at
   * most as many as remain free, and so at most half.
   */
  atOnce?: AtOnce
  /** Whether the response is the same for everyone, so that it is rendered once. */
  isFixed?: true
}

const SMALL = 64 * KIB
/** Most pages take 50 ms of CPU time. */
const RENDERING = { most: 8 }
/** The largest requests, of which only a few may be in memory. */
const LARGE = { most: 4 }
/** Anything else in the API, except for responses that do not end. */
const CALLING = { most: 16 }
/** Most of these wait for a password hash, so more are let in than may wait for one: the rest are refused there. */
const SIGNING_IN = { most: 32 }

/**
 * The only list of what a request may use. A path has the first route that matches. Uploads are not in it: their bodies
 * are streamed, limited by their tokens, and their limits are those of the upload core.
 */
export const ROUTES: readonly Route[] = [
  { path: '/api/v1/openapi.json', credential: 'none', bodyBytes: SMALL, isFixed: true },
  { path: '/api/v1/imports/batch', credential: 'before the body', bodyBytes: 4 * MIB, atOnce: LARGE },
  { path: '/api/v1/senders/many', credential: 'before the body', bodyBytes: MIB, atOnce: LARGE },
  // The first body contains the code of a link. The statement that issues a token also checks the Sender's.
  { path: '/api/v1/upload-links/open', credential: 'with the body', bodyBytes: SMALL, atOnce: CALLING },
  // A logo.
  { path: '/api/v1/link-pages', credential: 'before the body', bodyBytes: 4 * SMALL, atOnce: CALLING },
  { path: '/api/v1/tokens', credential: 'with the body', bodyBytes: SMALL, atOnce: CALLING },
  { path: '/api/v1/events/stream', credential: 'before the body', bodyBytes: SMALL },
  { path: '/api/v1', credential: 'before the body', bodyBytes: SMALL, atOnce: CALLING },
  { path: '/api/auth', credential: 'with the body', bodyBytes: SMALL, atOnce: SIGNING_IN },
  { path: '/api/inbox', credential: 'with the body', bodyBytes: 4 * SMALL },
  { path: '/api', credential: 'before the body', bodyBytes: SMALL },
  {
    path: '/dashboard/settings/link-pages',
    credential: 'with the body',
    bodyBytes: 4 * SMALL,
    atOnce: RENDERING,
  },
  // The names of many Senders, a list of addresses to import from, and a webhook whose signature is explained.
  { path: '/dashboard/senders', credential: 'with the body', bodyBytes: MIB, atOnce: RENDERING },
  { path: '/dashboard/pipes/*/import', credential: 'with the body', bodyBytes: MIB, atOnce: LARGE },
  { path: '/dashboard/webhooks/verify', credential: 'with the body', bodyBytes: MIB, atOnce: LARGE },
  { path: '/.well-known', credential: 'none', bodyBytes: SMALL, atOnce: CALLING },
  { path: '/docs', credential: 'none', bodyBytes: SMALL, atOnce: RENDERING, isFixed: true },
  { path: '/llms.txt', credential: 'none', bodyBytes: SMALL, isFixed: true },
  { path: '/_next/static', credential: 'none', bodyBytes: SMALL },
  { path: '/', credential: 'with the body', bodyBytes: SMALL, atOnce: RENDERING },
]

/** A test for each route, which compares segments, so that `/docs` matches neither `/docsearch` nor `/other/docs`. */
const tests = ROUTES.map((route) => {
  const path = route.path === '/' ? '' : route.path.replaceAll('.', '\\.').replaceAll('*', '[^/]+')
  return { route, pattern: new RegExp(`^${path}(?:[/?]|$)`) }
})

export function routeFor(url: string): Route {
  return tests.find(({ pattern }) => pattern.test(url))!.route
}
