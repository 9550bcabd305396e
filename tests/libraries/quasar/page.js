import { createApp } from "vue";
import * as Quasar from "quasar";
import "quasar/dist/quasar.css";

const App = {
  data: () => ({ tell: window.tell, model: "Google", options: ["Google", "Facebook", "Twitter"], many: ["Google"], found: ["Apple", "Banana"], fruit: null, agree: false, on: false, shape: "line", amount: 30, range: { min: 10, max: 35 }, stars: 1, day: "2026/04/17", open: false, tab: "mails", picked: [], file: null, group: "one", text: "", step: 1, page: 1, selected: null, pagination: { sortBy: null, rowsPerPage: 5 },
    rows: [{ name: "Frozen Yogurt", calories: 159 }, { name: "Ice cream", calories: 237 }, { name: "Eclair", calories: 262 }], columns: [{ name: "name", label: "Dessert", field: "name", align: "left", sortable: true }, { name: "calories", label: "Calories", field: "calories", sortable: true }],
    nodes: [{ label: "Satisfied customers", children: [{ label: "Good food" }, { label: "Good service" }] }] }),
  methods: {
    filter(value, update) { update(() => { this.found = ["Apple", "Banana", "Cherry"].filter((each) => each.toLowerCase().includes(value.toLowerCase())); }); },
    ask() { this.$q.dialog({ title: "Confirm", message: "Would you like to turn on the wifi?", cancel: true }).onOk(() => window.tell("confirmed", true)); },
    notify() { this.$q.notify({ message: "Jim just pinged you.", timeout: 0, actions: [{ label: "Reply", handler: () => window.tell("replied", true) }] }); },
  },
  template: `<h1>Quasar</h1>
    <q-select v-model="model" :options="options" label="Standard" @update:model-value="tell('model', $event)" />
    <q-select v-model="many" :options="options" multiple use-chips label="Many" @update:model-value="tell('many', $event)" />
    <q-select v-model="fruit" :options="found" use-input fill-input hide-selected input-debounce="0" label="Fruit" @filter="filter" @update:model-value="tell('fruit', $event)" />
    <q-checkbox v-model="agree" label="Agree" @update:model-value="tell('agree', $event)" /><q-toggle v-model="on" label="Blue" @update:model-value="tell('on', $event)" />
    <q-radio v-model="shape" val="line" label="Line" @update:model-value="tell('shape', $event)" /><q-radio v-model="shape" val="rectangle" label="Rectangle" @update:model-value="tell('shape', $event)" />
    <q-slider v-model="amount" :min="0" :max="50" label aria-label="Volume" @change="tell('amount', $event)" />
    <q-range v-model="range" :min="0" :max="50" aria-label="Range" @change="tell('range', $event)" />
    <q-rating v-model="stars" :max="5" @update:model-value="tell('stars', $event)" />
    <q-input v-model="day" label="Day" mask="date" :rules="['date']"><template v-slot:append><q-icon name="event" class="cursor-pointer"><q-popup-proxy><q-date v-model="day" @update:model-value="tell('day', $event)" /></q-popup-proxy></q-icon></template></q-input>
    <q-input v-model="text" label="Your name" :rules="[value => value && value.length > 0 || 'Please type something']" @update:model-value="tell('text', $event)" />
    <q-file v-model="file" label="Attachment" @update:model-value="tell('file', $event.name)" />
    <q-btn-toggle v-model="group" :options="[{ label: 'One', value: 'one' }, { label: 'Two', value: 'two' }]" @update:model-value="tell('group', $event)" />
    <q-btn-dropdown label="Dropdown Button"><q-list><q-item clickable v-close-popup @click="tell('item', 'photos')"><q-item-section>Photos</q-item-section></q-item></q-list></q-btn-dropdown>
    <q-btn label="Menu"><q-menu><q-list><q-item clickable><q-item-section>Preferences</q-item-section><q-menu anchor="top end" self="top start"><q-list><q-item clickable v-close-popup @click="tell('item', 'languages')"><q-item-section>Languages</q-item-section></q-item></q-list></q-menu></q-item></q-list></q-menu></q-btn>
    <q-btn label="Alert" @click="open = true" /><q-dialog v-model="open" @hide="tell('dialog', 'closed')"><q-card><q-card-section>Lorem ipsum dolor.</q-card-section><q-card-actions><q-btn flat label="OK" v-close-popup /></q-card-actions></q-card></q-dialog>
    <q-btn label="Confirm" @click="ask" /><q-btn label="Notify" @click="notify" />
    <q-tabs v-model="tab" @update:model-value="tell('tab', $event)"><q-tab name="mails" label="Mails" /><q-tab name="alarms" label="Alarms" /></q-tabs><q-tab-panels v-model="tab"><q-tab-panel name="mails">Mail text</q-tab-panel><q-tab-panel name="alarms">Alarm text</q-tab-panel></q-tab-panels>
    <q-expansion-item label="Account settings" @after-show="tell('expanded', true)"><q-card><q-card-section>Expanded text</q-card-section></q-card></q-expansion-item>
    <q-table title="Treats" :rows="rows" :columns="columns" row-key="name" selection="multiple" v-model:selected="picked" @update:selected="tell('picked', $event.map((each) => each.name))" v-model:pagination="pagination" @update:pagination="tell('sorted', $event.sortBy)" />
    <q-tree :nodes="nodes" node-key="label" v-model:selected="selected" @update:selected="tell('node', $event)" />
    <q-pagination v-model="page" :max="5" @update:model-value="tell('page', $event)" />`,
};

createApp(App).use(Quasar.Quasar, { components: Quasar, directives: Quasar, plugins: { Dialog: Quasar.Dialog, Notify: Quasar.Notify } }).mount("#root");
