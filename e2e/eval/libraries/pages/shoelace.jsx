import "@shoelace-style/shoelace/dist/themes/light.css";
import "@shoelace-style/shoelace/dist/components/button/button.js";
import "@shoelace-style/shoelace/dist/components/checkbox/checkbox.js";
import "@shoelace-style/shoelace/dist/components/icon/icon.js";
import "@shoelace-style/shoelace/dist/components/input/input.js";
import "@shoelace-style/shoelace/dist/components/option/option.js";
import "@shoelace-style/shoelace/dist/components/rating/rating.js";
import "@shoelace-style/shoelace/dist/components/select/select.js";
import "@shoelace-style/shoelace/dist/components/switch/switch.js";

const root = document.getElementById("root");
root.innerHTML = `<h1>Review</h1>
  <sl-input label="Your name" value="Kim"></sl-input>
  <sl-select label="Product" value="lamp">
    <sl-option value="lamp">Desk lamp</sl-option>
    <sl-option value="chair">Office chair</sl-option>
  </sl-select>
  <sl-rating label="Stars" value="3"></sl-rating>
  <sl-switch checked>Show my name</sl-switch>
  <sl-checkbox>I agree</sl-checkbox>
  <sl-button variant="primary">Publish</sl-button>`;
const read = (tag, member) => root.querySelector(tag)[member];
root.querySelector("sl-button").addEventListener("click", () => {
  window.done({
    product: read("sl-select", "value"),
    stars: read("sl-rating", "value"),
    isNamed: read("sl-switch", "checked"),
    isAgreed: read("sl-checkbox", "checked"),
  });
});
