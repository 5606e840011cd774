/** Which room may look into which. Each rule is shown to catch a planted violation in e2e/system/check.test.ts. */
const tests = '\\.test\\.tsx?$'
const forbid = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { pathNot: tests, ...from },
  to,
})

export default {
  forbidden: [
    forbid(
      'no-cycles',
      'A cycle hides which part stands on which.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    forbid('not-found', 'Every import must resolve.', {}, { couldNotResolve: true }),
    forbid(
      'kernel-is-the-ground',
      'The kernel imports nothing of ours.',
      { path: '^lib/kernel/' },
      { path: '^(lib|app|components|drizzle)/', pathNot: '^lib/kernel/' },
    ),
    forbid(
      'lib-knows-no-pages',
      'lib is used by pages and the API, never the reverse.',
      { path: '^lib/' },
      { path: '^(app|components)/|^node_modules/(next|react|react-dom|next-auth)/' },
    ),
    forbid(
      'ground-floor',
      'Buckets, network and database serve what stands above them.',
      { path: '^lib/(buckets|net|db)/' },
      { path: '^lib/(uploads|tus|webhooks)/' },
    ),
    forbid(
      'uploads-know-a-port',
      'Uploads know buckets only by the port that they define.',
      { path: '^lib/uploads/' },
      { path: '^lib/buckets/', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'tus-alone-knows-tus',
      'The protocol stays in one room.',
      { path: '^lib/', pathNot: '^lib/tus/' },
      { path: '^node_modules/@tus/|^lib/tus/' },
    ),
    forbid(
      'webhooks-know-no-uploads',
      'An event is all that passes between them.',
      { path: '^lib/webhooks/' },
      { path: '^lib/(uploads|tus)/' },
    ),
    forbid(
      'pages-reach-the-database-by-lib',
      'No query in a page or a route.',
      { path: '^(app|components)/' },
      {
        path: '^lib/db/|^node_modules/(drizzle-orm|postgres)/|^drizzle/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'one-door-to-s3',
      'The product speaks S3 by a client of its own; the SDK is for tests.',
      { path: '^(lib|app|components)/', pathNot: tests },
      { path: '^node_modules/@aws-sdk/' },
    ),
    forbid(
      'one-door-outside',
      'Connections to the outside are guarded by lib/net.',
      {
        path: '^(lib|app|components)/',
        pathNot: ['^lib/(net|buckets|http|local-bucket|db/embedded)/', tests],
      },
      {
        path: '^(http|https|net|tls|dgram|http2)$',
        dependencyTypes: ['core'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'tests-stay-tests',
      'No product code imports test parts.',
      { path: '^(lib|app|components|server)' },
      { path: '^(e2e|bench)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(\\.next|drizzle/migrations)/' },
    tsPreCompilationDeps: true,
    preserveSymlinks: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
}
