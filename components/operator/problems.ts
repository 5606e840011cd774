/** What an operator is told of in every workspace, by the kind of its alert. */
export const PROBLEMS: Record<string, string> = {
  bucket_rejects: 'Data Store rejects uploads',
  output_off: 'Webhook was turned off',
  output_failing: 'Webhook has failed for an hour',
  hook_failing: 'Decision hook does not answer',
}
