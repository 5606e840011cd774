/** The documentation, in reading order. Each page is a Markdown file in `app/(site)/docs/_text`. */
export const PAGES = [
  {
    slug: 'quickstart',
    title: 'Quickstart',
    summary: 'From zero to a file in your own bucket, in five minutes.',
  },
  {
    slug: 'kit',
    title: 'Client kit',
    summary: 'A token endpoint and an upload button in two short files, and a command-line tool.',
  },
  { slug: 'concepts', title: 'Concepts', summary: 'Data Stores, Pipes, Senders, tokens and files.' },
  { slug: 'token-api', title: 'Token API', summary: 'Exchange a Sender token for a temporary upload token.' },
  {
    slug: 'tus-endpoint',
    title: 'TUS endpoint',
    summary: 'The upload protocol and its guarantees.',
  },
  {
    slug: 'backend-uploads',
    title: 'Backend uploads',
    summary: 'Your backend sets the name, type and size, and a client sends the bytes.',
  },
  {
    slug: 'upload-links',
    title: 'Upload links',
    summary: 'Let people without an account upload to a Pipe, within your limits.',
  },
  {
    slug: 'batches',
    title: 'Batches',
    summary: 'Group files, and get one event when all of them have ended.',
  },
  {
    slug: 'without-tus',
    title: 'Without TUS',
    summary: 'curl, devices and iPhones: plain requests and Resumable Uploads for HTTP.',
  },
  {
    slug: 'import',
    title: 'Import from a URL',
    summary: 'Fetch files that are already on the internet into your bucket.',
  },
  {
    slug: 'sftp',
    title: 'SFTP',
    summary:
      'Upload with sftp, lftp, rclone, curl or WinSCP straight into your bucket, and resume after interruptions.',
  },
  {
    slug: 'google-cloud-storage',
    title: 'Google Cloud Storage',
    summary: 'Connect a bucket with a service account, without HMAC keys.',
  },
  {
    slug: 'devices',
    title: 'Devices (FTP)',
    summary: 'What to enter into cameras, scanners and machines that send files over FTPS or FTP.',
  },
  { slug: 'webhooks', title: 'Webhooks', summary: 'The event, its signature, and how to verify it.' },
  {
    slug: 'decision-hooks',
    title: 'Decision hooks',
    summary: 'Your backend allows, names or rejects uploads, and returns a result to the uploader.',
  },
  {
    slug: 'name-files',
    title: 'Name files yourself',
    summary: 'Your backend refuses uploads, or sets their names and keys, before they start.',
  },
  {
    slug: 'approve-files',
    title: 'Scan and approve files',
    summary: 'Hold files until your backend allows them, for up to a day, or scan them in quarantine.',
  },
  {
    slug: 'objects',
    title: 'Object settings',
    summary: 'Cache-Control, download names, metadata, tags, storage class and encryption of objects.',
  },
  {
    slug: 'second-copy',
    title: 'Keep a second copy',
    summary: 'Send one upload to several buckets, even if one of them cannot keep up.',
  },
  {
    slug: 'members',
    title: 'Members and roles',
    summary: 'Permissions, invitations, account keys and the audit log.',
  },
  { slug: 'errors', title: 'Errors', summary: 'The error format and every code.' },
  { slug: 'limits', title: 'Limits', summary: 'Sizes, rates, times and the free tier.' },
  { slug: 'self-hosting', title: 'Self-hosting', summary: 'Run Sluice on your own servers.' },
] as const

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

export const ALL_PAGES = [...PAGES, ...GUIDES]

export type DocPage = (typeof ALL_PAGES)[number]
