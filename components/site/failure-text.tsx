/** What is true of uploads while a page fails. */
export function FailureText({ out, digest }: { out: boolean; digest?: string | undefined }) {
  if (out)
    return 'The database does not answer. Uploads wait and keep what arrived; they and this page go on by themselves when it is back.'
  return `It was noted in the log${digest ? ` as ${digest}` : ''}. Uploads lose nothing by it: one that was stopped goes on by itself.`
}
