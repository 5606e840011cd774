/** Which room may look into which. Each rule is shown to catch a planted violation in e2e/system/check.test.ts. */
const tests = '\\.test\\.tsx?$'
const forbid = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { pathNot: tests, ...from },
  to,
})

/**
 * The folders of lib from the ground up. A folder imports from those of the layers below its own and from no other, so
 * there are no cycles between them. The folders inside one of them are free, except where a rule below says otherwise.
 */
const LAYERS = [
  ['platform'],
  ['buckets', 'events', 'identity'],
  ['workspace'],
  ['uploads', 'webhooks'],
  ['hooks', 'backend-uploads', 'batches', 'upload-links'],
  ['protocols', 'dashboard', 'imports', 'sftp'],
  ['api'],
]
const folders = (layers) => `^lib/(${layers.flat().join('|')})/`
const upwards = LAYERS.flatMap((layer, at) =>
  layer.map((folder) =>
    forbid(
      'layers',
      'A folder of lib imports only from the layers below its own.',
      { path: `^lib/${folder}/` },
      {
        path: '^(lib|server)/',
        pathNot: [`^lib/${folder}/`, ...(at > 0 ? [folders(LAYERS.slice(0, at))] : [])],
      },
    ),
  ),
)

/**
 * The same for what lies in lib/uploads, its folders and the few files beside them. Whoever reads it has them all on one page,
 * so they may not become too many.
 */
const UPLOAD_LAYERS = [
  ['bucket-port.ts'],
  ['rules'],
  ['ledger'],
  ['lease', 'memory'],
  ['upload-context.ts'],
  ['opening'],
  ['endings'],
  ['stream'],
  ['finish'],
  ['append.ts', 'concat', 'repair'],
  ['recovery'],
  ['decisions'],
]
const MAX_UPLOAD_ENTRIES = 15
if (UPLOAD_LAYERS.flat().length > MAX_UPLOAD_ENTRIES)
  throw new Error(`lib/uploads may have at most ${MAX_UPLOAD_ENTRIES} folders and files at its top.`)
const uploadEntries = (layers) => `^lib/uploads/(${layers.flat().join('|').replaceAll('.', '\\.')})(/|$)`
const upwardsInUploads = UPLOAD_LAYERS.flatMap((layer, at) =>
  layer.map((entry) =>
    forbid(
      'upload-layers',
      'A folder or file of uploads imports only from the layers below its own.',
      { path: uploadEntries([entry]) },
      {
        path: '^lib/uploads/',
        pathNot: [uploadEntries([entry]), ...(at > 0 ? [uploadEntries(UPLOAD_LAYERS.slice(0, at))] : [])],
      },
    ),
  ),
)

export default {
  forbidden: [
    ...upwards,
    ...upwardsInUploads,
    forbid(
      'every-upload-entry-has-a-layer',
      'A new folder or file of uploads takes its place in UPLOAD_LAYERS.',
      { path: '^lib/uploads/', pathNot: [uploadEntries(UPLOAD_LAYERS), tests] },
      {},
    ),
    forbid(
      'sql-of-uploads-in-their-ledger',
      'Every statement about uploads is in lib/uploads/ledger.',
      { path: '^lib/uploads/', pathNot: ['^lib/uploads/ledger/', tests] },
      { path: '^node_modules/(drizzle-orm|postgres)/|^drizzle/' },
    ),
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
      { path: '^lib/platform/kernel/' },
      { path: '^(lib|server|app|components|drizzle)/', pathNot: '^lib/platform/kernel/' },
    ),
    forbid(
      'every-folder-has-a-layer',
      'A new folder of lib takes its place in LAYERS.',
      { path: '^lib/', pathNot: folders(LAYERS) },
      {},
    ),
    forbid(
      'lib-knows-no-pages',
      'lib is used by pages and the API, never the reverse.',
      { path: '^lib/' },
      { path: '^(app|components)/|^node_modules/(next|react|react-dom|next-auth)/' },
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
      { path: '^lib/', pathNot: '^lib/protocols/tus/' },
      { path: '^node_modules/@tus/' },
    ),
    forbid(
      'protocols-stand-apart',
      'A protocol knows what all of them share, and no other one; what they share knows none.',
      { path: '^lib/protocols/([^/]+)/' },
      { path: '^lib/protocols/', pathNot: ['^lib/protocols/endpoint/', '^lib/protocols/$1/'] },
    ),
    forbid(
      'protocols-know-no-ledger',
      'A protocol calls the verbs of uploads and has its types from upload-context.ts; the tables are theirs.',
      { path: '^lib/protocols/' },
      { path: '^lib/uploads/ledger/|^lib/platform/db/|^drizzle/|^node_modules/(drizzle-orm|postgres)/' },
    ),
    forbid(
      'local-bucket-stands-alone',
      'An S3 server for the demo and the tests: it shares no more than a clock and a checksum with the product.',
      { path: '^packages/local-bucket/' },
      { path: '^(lib|server|app|components|drizzle)/', pathNot: '^lib/platform/kernel/' },
    ),
    forbid(
      'kit-stands-alone',
      'A package that users install has nothing of the server.',
      { path: '^packages/(node|react|cli)/' },
      { path: '^(lib|server|app|components|drizzle)/|^packages/(?!node/|react/|cli/)' },
    ),
    forbid(
      'pages-reach-the-database-by-lib',
      'No query in a page or a route.',
      { path: '^(app|components)/' },
      {
        path: '^lib/platform/db/|^node_modules/(drizzle-orm|postgres)/|^drizzle/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'one-door-to-s3',
      'The product speaks S3 by a client of its own; the SDK is for tests.',
      { path: '^(lib|server|packages|app|components)/', pathNot: tests },
      { path: '^node_modules/@aws-sdk/' },
    ),
    forbid(
      'one-door-to-opentelemetry',
      'It is loaded only where traces are wanted, by one file.',
      {
        path: '^(lib|server|app|components)/|^server\\.ts$',
        pathNot: '^lib/platform/tracing/open-telemetry\\.ts$',
      },
      { path: '^node_modules/@opentelemetry/' },
    ),
    forbid(
      'one-door-outside',
      'Connections to the outside are guarded by lib/platform/net. Servers take those that come.',
      {
        path: '^(lib|server|app|components)/',
        pathNot: [
          '^lib/(buckets|platform/(net|db/embedded))/|^lib/platform/db/primary\\.ts$|^lib/sftp/sftp-server\\.ts$|^server/http/',
          tests,
        ],
      },
      {
        path: '^(http|https|net|tls|dgram|http2)$',
        dependencyTypes: ['core'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'server-needs-no-development',
      'What `npm ci --omit=dev` installs is all that the server needs; Next comes with the build.',
      {
        path: '^(lib|server|drizzle|packages/local-bucket)/|^server\\.ts$|^scripts/(start|account|backup|reconcile|restore|rotate-keys)\\.ts$',
        pathNot: [tests, '^server/open-pages\\.ts$'],
      },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'tests-stay-tests',
      'No product code imports test parts.',
      { path: '^(lib|app|components|packages|server)' },
      { path: '^(e2e|bench|test)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(\\.next|drizzle/migrations|packages/[^/]+/dist)/' },
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
