import { defineConfig } from '@hey-api/openapi-ts'

/** The client generated from `openapi.json`: a function for each operation, and the API's types. */
export default defineConfig({
  input: 'openapi.json',
  output: {
    path: 'src/generated',
    fileName: { suffix: null },
    importFileExtension: '.ts',
    tsConfigPath: null,
  },
  logs: { level: 'silent', file: false },
  plugins: [
    { name: '@hey-api/client-fetch', throwOnError: true },
    '@hey-api/typescript',
    { name: '@hey-api/sdk', paramsStructure: 'flat', responseStyle: 'data' },
  ],
})
