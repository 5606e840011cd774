/** The rules for imports between folders. e2e/system/check.test.ts shows that each rule catches a planted violation. */
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to })

/**
 * The layers of lib, from the bottom up. A folder may only import from folders in the layers below its own, so there
 * are no cycles between folders. Subfolders may import from each other, except where a rule below forbids it.
 */
const LAYERS = [
  ['platform'],
  ['buckets', 'events', 'identity', 'media-types'],
  ['workspace'],
  ['upload-memory'],
  ['uploads', 'webhooks'],
  ['concatenation', 'repairs'],
  ['recovery'],
  ['hooks', 'backend-uploads', 'batches', 'upload-links'],
  ['folders'],
  ['protocols', 'dashboard', 'imports', 'sftp', 'ftp'],
  ['api'],
]
const folders = (layers) => `^lib/(${layers.flat().join('|')})/`
const upwards = LAYERS.flatMap((layer, at) =>
  layer.map((folder) =>
    forbid(
      'layers',
      'A folder in lib may only import from the layers below its own.',
      { path: `^lib/${folder}/` },
      {
        path: '^(lib|server)/',
        pathNot: [`^lib/${folder}/`, ...(at > 0 ? [folders(LAYERS.slice(0, at))] : [])],
      },
    ),
  ),
)

/**
 * The layers of lib/uploads: its folders, and the few files next to them. Their number is limited, so that readers can
 * take them all in at once.
 */
const UPLOAD_LAYERS = [
  ['bucket-port.ts'],
  ['rules'],
  ['ledger'],
  ['lease'],
  ['upload-context.ts'],
  ['opening'],
  ['endings'],
  ['stream'],
  ['finish'],
  ['append.ts'],
]
const MAX_UPLOAD_ENTRIES = 12
if (UPLOAD_LAYERS.flat().length > MAX_UPLOAD_ENTRIES)
  throw new Error(`lib/uploads may have at most ${MAX_UPLOAD_ENTRIES} top-level folders and files.`)
const uploadEntries = (layers) => `^lib/uploads/(${layers.flat().join('|').replaceAll('.', '\\.')})(/|$)`
const upwardsInUploads = UPLOAD_LAYERS.flatMap((layer, at) =>
  layer.map((entry) =>
    forbid(
      'upload-layers',
      'A folder or file in lib/uploads may only import from the layers below its own.',
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
      'A new folder or file in lib/uploads must be added to UPLOAD_LAYERS.',
      { path: '^lib/uploads/', pathNot: uploadEntries(UPLOAD_LAYERS) },
      {},
    ),
    forbid(
      'sql-of-uploads-in-their-ledger',
      'All SQL statements about uploads belong in lib/uploads/ledger.',
      { path: '^lib/uploads/', pathNot: '^lib/uploads/ledger/' },
      { path: '^node_modules/(drizzle-orm|postgres)/|^drizzle/' },
    ),
    forbid(
      'no-cycles',
      'Import cycles hide which module depends on which.',
      {},
      { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    ),
    forbid('not-found', 'Every import must resolve.', {}, { couldNotResolve: true }),
    forbid(
      'kernel-is-the-ground',
      'The kernel must not import any other code of this project.',
      { path: '^lib/platform/kernel/' },
      { path: '^(lib|server|app|components|drizzle)/', pathNot: '^lib/platform/kernel/' },
    ),
    forbid(
      'every-folder-has-a-layer',
      'A new folder in lib must be added to LAYERS.',
      { path: '^lib/', pathNot: folders(LAYERS) },
      {},
    ),
    forbid(
      'lib-knows-no-pages',
      'Pages import from lib, never the reverse.',
      { path: '^lib/' },
      { path: '^(app|components)/|^node_modules/(next|react|react-dom|next-auth)/' },
    ),
    forbid(
      'components-know-no-pages',
      'Components are shared by the features in app, and import none of them.',
      { path: '^components/' },
      { path: '^app/' },
    ),
    forbid(
      'uploads-know-a-port',
      'Uploads, and what builds on them, access buckets only through the port that lib/uploads defines.',
      { path: '^lib/(uploads|concatenation|repairs|recovery)/' },
      { path: '^lib/buckets/', dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'tus-alone-knows-tus',
      'Only lib/protocols/tus may use the TUS packages.',
      { path: '^lib/', pathNot: '^lib/protocols/tus/' },
      { path: '^node_modules/@tus/' },
    ),
    forbid(
      'protocols-stand-apart',
      'A protocol may import the code shared by all protocols, but no other protocol. The shared code imports no protocol.',
      { path: '^lib/protocols/([^/]+)/' },
      { path: '^lib/protocols/', pathNot: ['^lib/protocols/endpoint/', '^lib/protocols/$1/'] },
    ),
    forbid(
      'protocols-know-no-ledger',
      'A protocol calls the verbs of lib/uploads and takes its types from upload-context.ts, but never accesses the tables.',
      { path: '^lib/protocols/' },
      { path: '^lib/uploads/ledger/|^lib/platform/db/|^drizzle/|^node_modules/(drizzle-orm|postgres)/' },
    ),
    forbid(
      'local-bucket-stands-alone',
      'An S3 server for the demo and the tests. It shares only the kernel with the product.',
      { path: '^packages/local-bucket/' },
      { path: '^(lib|server|app|components|drizzle)/', pathNot: '^lib/platform/kernel/' },
    ),
    forbid(
      'kit-stands-alone',
      'Packages that users install must not import server code.',
      { path: '^packages/(node|react|uploader|uppy|cli)/' },
      {
        path: '^(lib|server|app|components|drizzle)/|^packages/(?!node/|react/|uploader/|uppy/|cli/|bundle)',
      },
    ),
    forbid(
      'pages-reach-the-database-by-lib',
      'Pages and routes must not query the database themselves.',
      { path: '^(app|components)/' },
      {
        path: '^lib/platform/db/|^node_modules/(drizzle-orm|postgres)/|^drizzle/',
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'one-door-to-s3',
      'The product has its own S3 client. Other than in tests, the AWS SDK only finds the identity of the server.',
      {
        path: '^(lib|server|packages|app|components)/',
        pathNot: '^lib/buckets/temporary/server-identity\\.ts$',
      },
      { path: '^node_modules/@aws-sdk/' },
    ),
    forbid(
      'one-door-to-opentelemetry',
      'Only one file loads OpenTelemetry, and only if tracing is on.',
      {
        path: '^(lib|server|app|components)/|^server\\.ts$',
        pathNot: '^lib/platform/tracing/open-telemetry\\.ts$',
      },
      { path: '^node_modules/@opentelemetry/' },
    ),
    forbid(
      'one-door-outside',
      'Outgoing connections must go through lib/platform/net, which guards them. Servers only accept incoming ones.',
      {
        path: '^(lib|server|app|components)/',
        pathNot:
          '^lib/(buckets|platform/(net|db/embedded))/|^lib/platform/db/primary\\.ts$|^lib/folders/serve-connections\\.ts|^lib/ftp/(active-port|passive-ports|tls)\\.ts$|^server/http/',
      },
      {
        path: '^(http|https|net|tls|dgram|http2)$',
        dependencyTypes: ['core'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbid(
      'server-needs-no-development',
      'The server must only need packages that `npm ci --omit=dev` installs. Next.js comes with the build.',
      {
        path: '^(lib|server|drizzle|packages/local-bucket)/|^server\\.ts$|^scripts/(start|account|backup|reconcile|restore|rotate-keys)\\.ts$',
        pathNot: '^server/open-pages\\.ts$',
      },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    ),
    forbid(
      'tests-stay-tests',
      'Product code must not import test code.',
      { path: '^(lib|app|components|packages|server)' },
      { path: '^(e2e|bench|test)/' },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(\\.next|drizzle/migrations|packages/[^/]+/dist)/|\\.test\\.tsx?$' },
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
