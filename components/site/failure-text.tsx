/** What happens to uploads while a page fails. */
export function FailureText({ out, digest }: { out: boolean; digest?: string | undefined }) {
  if (out)
    return 'The database is not responding. Uploads wait and keep the bytes received. They and this page continue automatically when it is back.'
  return `The error was logged${digest ? ` as ${digest}` : ''}. No upload is lost: interrupted uploads continue automatically.`
}
