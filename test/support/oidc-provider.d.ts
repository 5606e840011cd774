/** The types that exist for this package need 17 more packages. */
declare module 'oidc-provider'
