export type DocPage = { slug: string; title: string; summary: string }

const page = (slug: string, title: string, summary: string): DocPage => ({ slug, title, summary })

const guide = <Slug extends string>(slug: Slug, title: string) => ({
  slug: `guides/${slug}` as const,
  title,
  summary: `Token endpoint, upload and webhook in ${title}.`,
})

/** One guide per framework, each with the same three steps and complete code. */
export const GUIDES = [
  guide('nextjs', 'Next.js'),
  guide('express', 'Express'),
  guide('hono', 'Hono'),
  guide('rails', 'Rails'),
  guide('laravel', 'Laravel'),
  guide('django', 'Django'),
  guide('go', 'Go'),
]

/** The documentation in reading order, grouped by what its readers want to do. */
export const GROUPS: { title: string; pages: DocPage[] }[] = [
  {
    title: 'Start',
    pages: [
      page('quickstart', 'Quickstart', 'From zero to a file in your own bucket, in five minutes.'),
      page('concepts', 'Concepts', 'Data Stores, Pipes, Senders, tokens and files.'),
      page(
        'kit',
        'Client kit',
        'A token endpoint and an upload button in two short files, and a command-line tool.',
      ),
      page('web-component', 'Web component', 'Uploads in plain HTML, Vue, Svelte, Angular and Solid.'),
      page('uppy', 'Uppy', 'A plugin for Uppy 5 and 6, with any of its interfaces and frameworks.'),
      page('buckets', 'Connect a bucket', 'The permissions that the keys need, for each provider.'),
      page(
        'google-cloud-storage',
        'Google Cloud Storage',
        'Connect a bucket with a service account, without HMAC keys.',
      ),
      page('azure-blob-storage', 'Azure Blob Storage', 'Connect a container with a SAS that can only write.'),
      page(
        'without-keys',
        'Without keys',
        'Let AWS, Azure or Google Cloud trust Sluice, and store no secret.',
      ),
      page('pricing', 'Pricing', 'What is free, and what a month of uploads costs.'),
    ],
  },
  { title: 'Frameworks', pages: GUIDES },
  {
    title: 'Send files',
    pages: [
      page('restrictions', 'Restrict uploads', 'Types, sizes, origins and the content of files.'),
      page(
        'backend-uploads',
        'Backend uploads',
        'Your backend sets the name, type and size, and a client sends the bytes.',
      ),
      page(
        'upload-links',
        'Upload links',
        'Let people without an account upload to a Pipe, within your limits.',
      ),
      page('batches', 'Batches', 'Group files, and get one event when all of them have ended.'),
      page(
        'without-tus',
        'Without TUS',
        'curl, devices and iPhones: plain requests and Resumable Uploads for HTTP.',
      ),
      page('import', 'Import from a URL', 'Fetch files that are already on the internet into your bucket.'),
      page(
        'sftp',
        'SFTP',
        'Upload with sftp, lftp, rclone, curl or WinSCP straight into your bucket, and resume after interruptions.',
      ),
      page(
        'devices',
        'Devices (FTP)',
        'What to enter into cameras, scanners and machines that send files over FTPS or FTP.',
      ),
    ],
  },
  {
    title: 'Receive files',
    pages: [
      page('webhooks', 'Webhooks', 'The event, its signature, and how to verify it.'),
      page(
        'decision-hooks',
        'Decision hooks',
        'Your backend allows, names or rejects uploads, and returns a result to the uploader.',
      ),
      page(
        'name-files',
        'Name files yourself',
        'Your backend refuses uploads, or sets their names and keys, before they start.',
      ),
      page(
        'approve-files',
        'Scan and approve files',
        'Hold files until your backend allows them, for up to a day, or scan them in quarantine.',
      ),
      page(
        'objects',
        'Object settings',
        'Cache-Control, download names, metadata, tags, storage class and encryption of objects.',
      ),
      page(
        'second-copy',
        'Keep a second copy',
        'Send one upload to several buckets, even if one of them cannot keep up.',
      ),
    ],
  },
  {
    title: 'Operate',
    pages: [
      page('members', 'Members and roles', 'Permissions, invitations, account keys and the audit log.'),
      page('self-hosting', 'Self-hosting', 'Run Sluice on your own servers.'),
      page(
        'operations',
        'Operations',
        'Scaling, load balancers, failover, backups, upgrades and monitoring.',
      ),
      page('providers', 'Providers', 'The rules of each storage provider, and how Sluice follows them.'),
      page('capacity', 'Capacity', 'What a large installation needs, and what breaks first.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page('token-api', 'Token API', 'Exchange a Sender token for a temporary upload token.'),
      page('tus-endpoint', 'TUS endpoint', 'The upload protocol and its guarantees.'),
      page('errors', 'Errors', 'The error format and every code.'),
      page('limits', 'Limits', 'Sizes, rates, times and the free tier.'),
    ],
  },
]

export const ALL_PAGES = GROUPS.flatMap(({ pages }) => pages)
