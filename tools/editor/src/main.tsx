// SPDX-License-Identifier: MIT
import {render} from "preact";

import {App} from "./app";
import * as store from "./store";
import "./style.css";

document.documentElement.dataset.theme =
    localStorage.getItem("theme") ?? (matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark");
render(<App />, document.getElementById("app")!);
store.start();
