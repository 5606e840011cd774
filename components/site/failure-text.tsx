/** Explains what happens to uploads while a page fails. */
export function FailureText({ out, digest }: { out: boolean; digest?: string | undefined }) {
  if (out)
    return 'The database is not responding. Uploads wait and keep the bytes received. When the database is back, they continue automatically and this page reloads.'
  return `The error was logged${digest ? ` as ${digest}` : ''}. No upload is lost: interrupted uploads continue automatically.`
}
