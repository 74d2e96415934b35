// Calls Amazon's SDKs for JavaScript for a test: a JSON request per line in, a JSON answer per line out.
//
// A request is [sdk, service, operation, parameters]; `pages` as operation follows a paginator of version 3.
"use strict";

const readline = require("node:readline");

const endpoint = process.env.ENDPOINT;
const region = process.env.AWS_DEFAULT_REGION;

const versions = {
  v2: () => {
    process.env.AWS_SDK_JS_SUPPRESS_MAINTENANCE_MODE_MESSAGE = "1";
    const AWS = require("aws-sdk");
    const options = { endpoint, region, maxRetries: 0 };
    const clients = { mturk: new AWS.MTurk(options), sns: new AWS.SNS(options), sqs: new AWS.SQS(options) };
    return async (service, operation, parameters) => {
      const name = operation[0].toLowerCase() + operation.slice(1);
      return clients[service][name](parameters).promise();
    };
  },
  v3: () => {
    const modules = {
      mturk: [require("@aws-sdk/client-mturk"), "MTurkClient"],
      sns: [require("@aws-sdk/client-sns"), "SNSClient"],
      sqs: [require("@aws-sdk/client-sqs"), "SQSClient"],
    };
    const options = { endpoint, region, maxAttempts: 1 };
    const clients = {};
    return async (service, operation, parameters) => {
      const [module, name] = modules[service];
      clients[service] ??= new module[name](options);
      if (operation === "pages") {
        const pages = [];
        const { paginator, ...input } = parameters;
        for await (const page of module[paginator]({ client: clients[service] }, input)) pages.push(page);
        return pages;
      }
      return clients[service].send(new module[`${operation}Command`](parameters));
    };
  },
};

async function answer(line) {
  const [sdk, service, operation, parameters] = JSON.parse(line);
  if (typeof versions[sdk] === "function" && versions[sdk].length === 0) versions[sdk] = { call: versions[sdk]() };
  for (const name of ["Expiration", "ExpireAt"]) if (parameters[name]) parameters[name] = new Date(parameters[name]);
  try {
    return { gave: await versions[sdk].call(service, operation, parameters) };
  } catch (error) {
    const { name, code, message, TurkErrorCode } = error;
    return { raised: JSON.stringify({ name: code ?? name, message, TurkErrorCode }) };
  }
}

(async () => {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
  }
})();
