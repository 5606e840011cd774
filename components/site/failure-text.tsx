/** What is true of uploads while a page fails. */
export function FailureText({ out, digest }: { out: boolean; digest?: string | undefined }) {
  if (out)
    return 'The database is not responding. Uploads wait and keep what has arrived. They and this page continue automatically when it is back.'
  return `It was recorded in the log${digest ? ` as ${digest}` : ''}. No upload is lost: one that was stopped continues automatically.`
}
